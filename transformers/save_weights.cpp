#include "transformers/save_weights.h"

#include "accelerate/tensors/save_shards.h"

namespace transformers {

void save_weights(const torch::nn::Module& model, const std::filesystem::path& directory, uint64_t max_shard_size) {
  accelerate::tensors::TensorList weights;
  for (const auto& item : model.named_parameters()) weights.emplace_back(item.key(), item.value());
  for (const auto& item : model.named_buffers()) weights.emplace_back(item.key(), item.value());
  accelerate::tensors::save_shards(weights, directory, {.max_shard_bytes = max_shard_size, .count_parameters = true});
}

}  // namespace transformers
