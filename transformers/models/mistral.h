#pragma once

// Mistral (Jiang et al., 2023): Llama with layers that see a limited number of tokens back.

#include "transformers/models/llama.h"

namespace transformers {

/// The sizes that a configuration names, or those of Mistral.
LlamaConfig mistral_config(const PretrainedConfig& config);

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

/// The decoder, predicting the next tokens.
class MistralForCausalLM : public LlamaForCausalLM {
 public:
  explicit MistralForCausalLM(const PretrainedConfig& config) : LlamaForCausalLM(config, mistral_config(config)) {}
};

}  // namespace transformers
