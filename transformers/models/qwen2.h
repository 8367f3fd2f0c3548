#pragma once

// Qwen2 (Yang et al., 2024): Llama with biases in the projections of attention.

#include "transformers/models/llama.h"

namespace transformers {

/// The sizes that a configuration names, or those of Qwen2.
LlamaConfig qwen2_config(const PretrainedConfig& config);

/// Reads which layers have a window from layer_types, or from use_sliding_window and max_window_layers, as Qwen's
/// configurations name them.
void read_windows(const PretrainedConfig& config, LlamaConfig& sizes);

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

/// The decoder, predicting the next tokens.
class Qwen2ForCausalLM : public LlamaForCausalLM {
 public:
  explicit Qwen2ForCausalLM(const PretrainedConfig& config) : LlamaForCausalLM(config, qwen2_config(config)) {}
};

}  // namespace transformers
