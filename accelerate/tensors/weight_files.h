#pragma once

// The weights of a model on disk, whichever files they are in.

#include <filesystem>

#include "accelerate/tensors/torch_file.h"

namespace accelerate::tensors {

/// The weights in `path`: a safetensors file or a file of torch.save, whatever its name, the index of several of
/// either, or a directory. A file of torch.save holds the weights as such, or under the key state_dict,
/// model_state_dict or model of a dict. Of a directory the first of these that it has, as Python looks for them:
/// model.safetensors, model.safetensors.index.json, pytorch_model.bin, pytorch_model.bin.index.json. Values are read
/// when they are copied. Throws Error naming the file that is missing or damaged, holds anything but tensors by their
/// names, holds a tensor that another one holds too, or lacks one that the index promises.
StoredTensors open_weights(const std::filesystem::path& path, const OpenTorchFileOptions& options = {});

}  // namespace accelerate::tensors
