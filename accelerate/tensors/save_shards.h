#pragma once

// A model in files of a limited size, with an index that says which tensor is where: the layout of Python's packages.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>

#include "accelerate/base/append.h"
#include "accelerate/formats/model_file_names.h"
#include "accelerate/tensors/safetensors.h"

namespace accelerate::tensors {

struct SaveShardsOptions {
  uint64_t max_shard_bytes = 10'000'000'000;
  formats::ModelFileNames names = {};
  /// Appends the bytes of a file of this name; not given: as safetensors.
  std::function<void(const TensorList& tensors, const std::string& name, const Append& append)> write = {};
  bool count_parameters = false;  // the index tells their number too, as that of Transformers does
};

/// Writes the tensors into `directory`: one file, or several and their index. Files of an earlier and
/// differently divided model that have such names go away when the new one is complete. An error or a crash before
/// leaves the earlier model; or, where as many shards take the place of its own, none for a moment, but never a
/// mixture. Throws Error naming the file that cannot be written.
void save_shards(const TensorList& tensors, const std::filesystem::path& directory, const SaveShardsOptions& options);

}  // namespace accelerate::tensors
