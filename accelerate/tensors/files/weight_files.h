#pragma once

// Opens the weights of a model on disk, in any supported layout.

#include <filesystem>

#include "accelerate/tensors/torch_file.h"

namespace accelerate::tensors {

/// Opens the weights in `path`: a safetensors file or a file of torch.save, whatever its name, an index of several, or
/// a directory. A file of torch.save is a dict of weights, or a dict with one under the key state_dict,
/// model_state_dict or model. In a directory the first of these files counts, in Python's order: model.safetensors,
/// model.safetensors.index.json, pytorch_model.bin, pytorch_model.bin.index.json. Values are read when they are copied.
/// Throws Error naming the file if it is missing or damaged, has anything but named tensors, has a tensor that is also
/// in another shard, or lacks a tensor of the index.
StoredTensors open_weights(const std::filesystem::path& path, const OpenTorchFileOptions& options = {});

}  // namespace accelerate::tensors
