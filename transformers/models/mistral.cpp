#include "transformers/models/mistral.h"

namespace transformers {

LlamaConfig mistral_config(const PretrainedConfig& config) {
  auto sizes = LlamaConfig::from(
      config,
      {.family = "Mistral", .intermediate_size = 14336, .num_key_value_heads = 8, .max_position_embeddings = 131072});
  // Null in a configuration means no window, absent means the default.
  sizes.sliding_window = config.contains("sliding_window") ? config.get<int64_t>("sliding_window", 0) : 4096;
  if (sizes.sliding_window > 0) sizes.is_windowed.assign(sizes.num_hidden_layers, true);
  return sizes;
}

}  // namespace transformers
