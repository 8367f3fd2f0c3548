#include "transformers/models/qwen3.h"

#include "transformers/models/qwen2.h"

namespace transformers {

LlamaConfig qwen3_config(const PretrainedConfig& config) {
  auto sizes = LlamaConfig::from(config, {.family = "Qwen3",
                                          .vocab_size = 151936,
                                          .intermediate_size = 22016,
                                          .num_key_value_heads = 32,
                                          .head_dim = 128,
                                          .max_position_embeddings = 32768,
                                          .normalize_heads = true});
  config.read("attention_bias", sizes.projection_bias);
  sizes.output_bias = sizes.projection_bias;
  read_windows(config, sizes);
  return sizes;
}

}  // namespace transformers
