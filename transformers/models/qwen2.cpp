#include "transformers/models/qwen2.h"

#include "accelerate/base/error.h"

namespace transformers {

LlamaConfig qwen2_config(const PretrainedConfig& config) {
  auto sizes = LlamaConfig::from(config, {.family = "Qwen2",
                                          .vocab_size = 151936,
                                          .intermediate_size = 22016,
                                          .num_key_value_heads = 32,
                                          .projection_bias = true});
  read_windows(config, sizes);
  return sizes;
}

void read_windows(const PretrainedConfig& config, LlamaConfig& sizes) {
  bool any = config.get("use_sliding_window", false);
  if (any) sizes.sliding_window = config.get<int64_t>("sliding_window", 4096);
  auto first = config.get<int64_t>("max_window_layers", 28);
  auto types = config.find<std::vector<std::string>>("layer_types");
  if (types && static_cast<int64_t>(types->size()) != sizes.num_hidden_layers) {
    accelerate::fail("config.json: layer_types names ", types->size(), " layers, but num_hidden_layers is ",
                     sizes.num_hidden_layers);
  }
  for (int64_t i = 0; i < sizes.num_hidden_layers; ++i) {
    sizes.is_windowed.push_back(types ? (*types)[i] == "sliding_attention" : any && i >= first);
  }
}

}  // namespace transformers
