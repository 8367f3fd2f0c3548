#pragma once

// Saves a model in shards of a limited size with an index of its tensors, in the layout of Python's packages.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "accelerate/base/file.h"
#include "accelerate/formats/model_files.h"
#include "accelerate/tensors/safetensors.h"

namespace accelerate::tensors {

struct SaveShardsOptions {
  uint64_t max_shard_bytes = 10'000'000'000;
  formats::ModelFileNames names = {};
  /// Appends the bytes of the file called `name`. Default: write_safetensors.
  std::function<void(const TensorList& tensors, const std::string& name, const Append& append)> write = {};
  bool count_parameters = false;  // store the number of parameters in the index, as Transformers does
};

/// Writes the tensors into `directory`: one file, or several with an index. Then removes leftover files of an earlier
/// model in the same naming scheme. An error or crash before the end leaves the earlier model loadable. Exception: if
/// new shards replace files of the same names, the index is missing for a moment; a crash then leaves no model, but
/// never a mixture. Throws Error naming the file that cannot be written.
void save_shards(const TensorList& tensors, const std::filesystem::path& directory, const SaveShardsOptions& options);

}  // namespace accelerate::tensors
