#pragma once

// Llama (Touvron et al., 2023): a decoder with rotary positions, root-mean-square norms, gated feed-forward networks
// and grouped-query attention. Mistral and Qwen are variants of it.

#include <optional>
#include <string>
#include <vector>

#include "transformers/activations.h"
#include "transformers/heads.h"
#include "transformers/rotary.h"

namespace transformers {

/// The hyperparameters of Llama and similar models. The values here are the defaults for keys that config.json does not
/// have.
struct LlamaConfig {
  std::string family = "Llama";  // prefix of the class names
  int64_t vocab_size = 32000, hidden_size = 4096, intermediate_size = 11008, num_hidden_layers = 32;
  int64_t num_attention_heads = 32;
  int64_t num_key_value_heads = 0;  // 0: num_attention_heads
  int64_t head_dim = 0;             // 0: hidden_size / num_attention_heads
  int64_t max_position_embeddings = 2048;
  double rms_norm_eps = 1e-6, attention_dropout = 0;
  std::string hidden_act = "silu";
  bool projection_bias = false;  // in the projections to queries, keys and values
  bool output_bias = false;      // in the projection after attention
  bool mlp_bias = false;
  bool normalize_heads = false;     // queries and keys are normalised
  int64_t sliding_window = 0;       // window length of the layers in is_windowed
  std::vector<bool> is_windowed{};  // by layer; empty: none

  /// Reads the keys that all these models have from `config`, with `defaults` for missing ones.
  static LlamaConfig from(const PretrainedConfig& config, const LlamaConfig& defaults);

  /// The same with the defaults of Llama.
  static LlamaConfig from(const PretrainedConfig& config);
};

/// Attention and a gated feed-forward network, each with a norm before it and a residual connection.
class LlamaLayer : public Block {
 public:
  explicit LlamaLayer(const LlamaConfig& config);
  at::Tensor forward(at::Tensor x, const at::Tensor& mask, const Rotation& rotation);

 private:
  at::Tensor heads(const at::Tensor& projected, RMSNorm& norm) const;
  at::Tensor attention(const at::Tensor& x, const at::Tensor& mask, const Rotation& rotation);
  at::Tensor feed_forward(const at::Tensor& x);

  LlamaConfig config_;
  Activation activation_;
  Linear query_, key_, value_, attention_output_;
  RMSNorm query_norm_ = nullptr, key_norm_ = nullptr;
  Linear gate_ = nullptr, up_ = nullptr, down_ = nullptr;
  RMSNorm attention_norm_ = nullptr, feed_forward_norm_ = nullptr;
};

/// The decoder.
class LlamaModel : public BaseModel {
 public:
  explicit LlamaModel(const PretrainedConfig& config) : LlamaModel(config, LlamaConfig::from(config)) {}
  LlamaModel(const PretrainedConfig& config, const LlamaConfig& sizes);

  /// The token embeddings, which the language-model head may share.
  const Embedding& words() const { return words_; }

 private:
  BaseModelOutput encode(const ModelInputs& inputs) override;

  LlamaConfig sizes_;
  RotaryEmbedding rotary_;
  Embedding words_;
  std::vector<std::shared_ptr<LlamaLayer>> layers_;
  RMSNorm norm_ = nullptr;
};

/// The decoder, and a linear classifier on the last token of each text.
class LlamaForSequenceClassification : public DecoderForSequenceClassification {
 public:
  explicit LlamaForSequenceClassification(const PretrainedConfig& config)
      : LlamaForSequenceClassification(config, LlamaConfig::from(config)) {}
  LlamaForSequenceClassification(const PretrainedConfig& config, const LlamaConfig& sizes);
};

/// The decoder with a language-model head.
class LlamaForCausalLM : public DecoderForCausalLM {
 public:
  explicit LlamaForCausalLM(const PretrainedConfig& config) : LlamaForCausalLM(config, LlamaConfig::from(config)) {}
  LlamaForCausalLM(const PretrainedConfig& config, const LlamaConfig& sizes);

 private:
  LlamaForCausalLM(const PretrainedConfig& config, const LlamaConfig& sizes, const std::shared_ptr<LlamaModel>& model);
};

}  // namespace transformers
