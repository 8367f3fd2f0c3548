#pragma once

// The tensors of a checkpoint, whichever files they are in.

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

namespace transformers {

/// One tensor of a checkpoint.
struct CheckpointTensor {
  std::string name = {};
  at::ScalarType type = at::kFloat;
  std::vector<int64_t> shape = {};
  /// Copies the values into a tensor of the same shape and of any type.
  std::function<void(at::Tensor& destination)> copy_into = {};
};

/// The tensors of the first of these that the directory has, as Python looks for them: model.safetensors, the files
/// that model.safetensors.index.json names, pytorch_model.bin, the files that pytorch_model.bin.index.json names.
/// Safetensors files are read tensor by tensor when these are copied, others at once. Throws Error naming the file that
/// is missing or damaged, or that holds anything but tensors.
std::vector<CheckpointTensor> open_checkpoint(const std::filesystem::path& directory);

}  // namespace transformers
