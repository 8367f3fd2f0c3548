#include "transformers/save_weights.h"

#include "accelerate/base/error.h"
#include "accelerate/tensors/save_shards.h"

namespace transformers {

using accelerate::fail;

void save_weights(const torch::nn::Module& model, const std::filesystem::path& directory, uint64_t max_shard_size) {
  accelerate::tensors::TensorList weights;
  for (const auto& item : model.named_parameters()) weights.emplace_back(item.key(), item.value());
  accelerate::tensors::save_shards(weights, directory, {.max_shard_bytes = max_shard_size, .count_parameters = true});
}

std::string python_name_of(at::ScalarType type) {
  switch (type) {
    case at::kFloat:
      return "float32";
    case at::kDouble:
      return "float64";
    case at::kHalf:
      return "float16";
    case at::kBFloat16:
      return "bfloat16";
    default:
      fail("a model of type ", c10::toString(type), " has no name in a configuration");
  }
}

}  // namespace transformers
