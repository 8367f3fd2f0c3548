#pragma once

// Writing the weights of a model as Python's save_pretrained does.

#include <cstdint>
#include <filesystem>

#include <torch/nn/module.h>

namespace transformers {

/// Writes parameters and buffers: model.safetensors; or, when the weights take more than `max_shard_size` bytes,
/// model-00001-of-0000N.safetensors and an index, each file at most that large unless one tensor is larger. Weights
/// files that were there before and are not part of this model go away.
void save_weights(const torch::nn::Module& model, const std::filesystem::path& directory, uint64_t max_shard_size);

}  // namespace transformers
