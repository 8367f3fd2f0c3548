#pragma once

// Qwen3 (Yang et al., 2025): Llama with normalised queries and keys.

#include "transformers/models/llama.h"

namespace transformers {

/// The sizes that a configuration names, or those of Qwen3.
LlamaConfig qwen3_config(const PretrainedConfig& config);

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

/// The decoder, predicting the next tokens.
class Qwen3ForCausalLM : public LlamaForCausalLM {
 public:
  explicit Qwen3ForCausalLM(const PretrainedConfig& config) : LlamaForCausalLM(config, qwen3_config(config)) {}
};

}  // namespace transformers
