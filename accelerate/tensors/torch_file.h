#pragma once

// Files that `torch.save` writes and `torch.load` reads: optimizer.bin, pytorch_model.bin, random_states_0.pkl.

#include <filesystem>
#include <string>

#include <ATen/core/Tensor.h>

#include "accelerate/base/append.h"
#include "accelerate/formats/value.h"
#include "accelerate/tensors/stored_tensor.h"

namespace accelerate::tensors {

/// What a torch file holds.
using TorchValue = formats::Value<at::Tensor>;
/// The same with tensors that were not read yet.
using StoredValue = formats::Value<StoredTensor>;

/// Reads a file that `torch.save` wrote. All tensors are on the CPU; those that shared a storage share it again.
/// Nothing in the file is run: see formats/pickle_reader.h for what is read and what is refused. Throws Error naming
/// the file when it is cut off or damaged, also when that happens while it is read.
TorchValue load_torch_file(const std::filesystem::path& path);

struct OpenTorchFileOptions {
  bool verify = true;  // read all of it first, and compare it with the checksums that it holds
};

/// The same, but tensors are only read when they are copied, into where they belong.
StoredValue open_torch_file(const std::filesystem::path& path, const OpenTorchFileOptions& options = {});

/// Tensors in memory as if they were in a file.
StoredValue stored(const TorchValue& value);

/// Writes a file that Python reads with `torch.load(path, weights_only=True)`, through a file beside it that takes its
/// name when it is complete. A storage that several tensors share is written once, whole. Throws Error naming the path.
void save_torch_file(const TorchValue& value, const std::filesystem::path& path);

/// The bytes of such a file. `folder` is its name without the extension, which torch gives to the folder in it.
void write_torch_file(const TorchValue& value, const std::string& folder, const Append& append);

}  // namespace accelerate::tensors
