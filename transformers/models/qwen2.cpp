#include "transformers/models/qwen2.h"

#include "transformers/attention.h"

namespace transformers {

LlamaConfig qwen2_config(const PretrainedConfig& config) {
  auto sizes = LlamaConfig::from(config, {.family = "Qwen2",
                                          .vocab_size = 151936,
                                          .intermediate_size = 22016,
                                          .num_key_value_heads = 32,
                                          .max_position_embeddings = 32768,
                                          .projection_bias = true});
  read_windows(config, sizes);
  return sizes;
}

void read_windows(const PretrainedConfig& config, LlamaConfig& sizes) {
  bool any = config.get("use_sliding_window", false);
  if (any) sizes.sliding_window = config.get<int64_t>("sliding_window", 4096);
  if (auto named = windowed_layers(config, sizes.num_hidden_layers)) {
    sizes.is_windowed = *named;
    return;
  }
  auto first = config.get<int64_t>("max_window_layers", 28);
  for (int64_t i = 0; i < sizes.num_hidden_layers; ++i) sizes.is_windowed.push_back(any && i >= first);
}

}  // namespace transformers
