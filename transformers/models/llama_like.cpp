// The decoders that are Llama with another configuration: Mistral, Qwen2 and Qwen3.

#include "transformers/attention.h"
#include "transformers/models/families.h"
#include "transformers/models/llama.h"

namespace transformers {

namespace {

// Mistral (Jiang et al., 2023): Llama with sliding-window attention.

LlamaConfig mistral_config(const PretrainedConfig& config) {
  auto sizes = LlamaConfig::from(
      config,
      {.family = "Mistral", .intermediate_size = 14336, .num_key_value_heads = 8, .max_position_embeddings = 131072});
  // Null in a configuration means no window, absent means the default.
  sizes.sliding_window = config.contains("sliding_window") ? config.get<int64_t>("sliding_window", 0) : 4096;
  if (sizes.sliding_window > 0) sizes.is_windowed.assign(sizes.num_hidden_layers, true);
  return sizes;
}

/// The decoder.
class MistralModel : public LlamaModel {
 public:
  explicit MistralModel(const PretrainedConfig& config) : LlamaModel(config, mistral_config(config)) {}
};

/// The decoder, and a linear classifier on the last token of each text.
class MistralForSequenceClassification : public LlamaForSequenceClassification {
 public:
  explicit MistralForSequenceClassification(const PretrainedConfig& config)
      : LlamaForSequenceClassification(config, mistral_config(config)) {}
};

/// The decoder with a language-model head.
class MistralForCausalLM : public LlamaForCausalLM {
 public:
  explicit MistralForCausalLM(const PretrainedConfig& config) : LlamaForCausalLM(config, mistral_config(config)) {}
};

// Qwen2 (Yang et al., 2024): Llama with biases in the projections of attention.

// Reads which layers have a window from layer_types, or from use_sliding_window and max_window_layers, as Qwen's
// configurations name them.
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

/// The decoder.
class Qwen2Model : public LlamaModel {
 public:
  explicit Qwen2Model(const PretrainedConfig& config) : LlamaModel(config, qwen2_config(config)) {}
};

/// The decoder, and a linear classifier on the last token of each text.
class Qwen2ForSequenceClassification : public LlamaForSequenceClassification {
 public:
  explicit Qwen2ForSequenceClassification(const PretrainedConfig& config)
      : LlamaForSequenceClassification(config, qwen2_config(config)) {}
};

/// The decoder with a language-model head.
class Qwen2ForCausalLM : public LlamaForCausalLM {
 public:
  explicit Qwen2ForCausalLM(const PretrainedConfig& config) : LlamaForCausalLM(config, qwen2_config(config)) {}
};

// Qwen3 (Yang et al., 2025): Llama with normalised queries and keys.

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

/// The decoder.
class Qwen3Model : public LlamaModel {
 public:
  explicit Qwen3Model(const PretrainedConfig& config) : LlamaModel(config, qwen3_config(config)) {}
};

/// The decoder, and a linear classifier on the last token of each text.
class Qwen3ForSequenceClassification : public LlamaForSequenceClassification {
 public:
  explicit Qwen3ForSequenceClassification(const PretrainedConfig& config)
      : LlamaForSequenceClassification(config, qwen3_config(config)) {}
};

/// The decoder with a language-model head.
class Qwen3ForCausalLM : public LlamaForCausalLM {
 public:
  explicit Qwen3ForCausalLM(const PretrainedConfig& config) : LlamaForCausalLM(config, qwen3_config(config)) {}
};

}  // namespace

namespace models {

Architecture mistral() {
  return {.model_type = "mistral",
          .base = make<MistralModel>(),
          .sequence_classification = make<MistralForSequenceClassification>(),
          .causal_lm = make<MistralForCausalLM>()};
}

Architecture qwen2() {
  return {.model_type = "qwen2",
          .base = make<Qwen2Model>(),
          .sequence_classification = make<Qwen2ForSequenceClassification>(),
          .causal_lm = make<Qwen2ForCausalLM>()};
}

Architecture qwen3() {
  return {.model_type = "qwen3",
          .base = make<Qwen3Model>(),
          .sequence_classification = make<Qwen3ForSequenceClassification>(),
          .causal_lm = make<Qwen3ForCausalLM>()};
}

}  // namespace models

}  // namespace transformers
