#pragma once

// Reads and writes the files of `torch.save` and `torch.load`: optimizer.bin, pytorch_model.bin, random_states_0.pkl.

#include <filesystem>
#include <string>

#include <ATen/core/Tensor.h>

#include "accelerate/base/file.h"
#include "accelerate/formats/pickle/value.h"
#include "accelerate/tensors/stored_tensor.h"

namespace accelerate::tensors {

/// The value in a torch file.
using TorchValue = formats::Value<at::Tensor>;
/// The same with tensors that are not yet read.
using StoredValue = formats::Value<StoredTensor>;

/// Reads a file of `torch.save`. All tensors are on the CPU; those that shared a storage share it again. No code in the
/// file is executed: formats/pickle/pickle.h lists what is accepted. Throws Error naming the file if it is truncated or
/// damaged, even if that happens during the read.
TorchValue load_torch_file(const std::filesystem::path& path);

struct OpenTorchFileOptions {
  bool verify = true;  // read the whole file first and compare it with its checksums
};

/// The same, but each tensor is read only when it is copied, straight into its destination.
StoredValue open_torch_file(const std::filesystem::path& path, const OpenTorchFileOptions& options = {});

/// Wraps a value in memory as a StoredValue. Shares the tensors.
StoredValue stored(const TorchValue& value);

/// Writes a file that Python reads with `torch.load(path, weights_only=True)`, through a temporary file and an atomic
/// rename. A storage shared by several tensors is written once, as a whole. Throws Error naming the path if it cannot
/// be written.
void save_torch_file(const TorchValue& value, const std::filesystem::path& path);

/// Appends the bytes of such a file. `folder` is the folder in the archive: torch uses the file name without extension.
void write_torch_file(const TorchValue& value, const std::string& folder, const Append& append);

}  // namespace accelerate::tensors
