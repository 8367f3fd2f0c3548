#pragma once

// GPT-2 (Radford et al., 2019): a decoder that normalises before each step, with learnt positions.

#include "transformers/activations.h"
#include "transformers/decoder_heads.h"

namespace transformers {

/// The sizes of GPT-2, under its own names.
struct GPT2Config {
  int64_t vocab_size, n_positions, n_embd, n_layer, n_head, n_inner;
  double resid_pdrop, embd_pdrop, attn_pdrop, layer_norm_epsilon, initializer_range;
  bool scale_attn_weights, scale_attn_by_inverse_layer_idx;
  std::string activation_function;

  explicit GPT2Config(const PretrainedConfig& config);

  /// The standard deviation of new weights that add to the residual stream: smaller in deeper models.
  double residual_range() const;
};

/// Attention to what is before, with one projection for queries, keys and values.
class GPT2Attention : public Block {
 public:
  GPT2Attention(const GPT2Config& config, int64_t layer);
  at::Tensor forward(const at::Tensor& x, const at::Tensor& mask);
  void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) override;

 private:
  GPT2Config config_;
  double scale_;
  Conv1D query_key_value_, output_;
};

/// The feed-forward network.
class GPT2MLP : public Block {
 public:
  explicit GPT2MLP(const GPT2Config& config);
  at::Tensor forward(const at::Tensor& x);
  void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) override;

 private:
  GPT2Config config_;
  Activation activation_;
  Conv1D inner_, output_;
};

/// Attention and the feed-forward network, each after a normalisation and added to its input.
class GPT2Block : public Block {
 public:
  GPT2Block(const GPT2Config& config, int64_t layer);
  at::Tensor forward(at::Tensor x, const at::Tensor& mask);

 private:
  LayerNorm attention_norm_;
  std::shared_ptr<GPT2Attention> attention_;
  LayerNorm mlp_norm_;
  std::shared_ptr<GPT2MLP> mlp_;
};

/// The decoder.
class GPT2Model : public BaseModel {
 public:
  explicit GPT2Model(const PretrainedConfig& config);

  /// The table of tokens, which the language model shares.
  const Embedding& words() const { return words_; }

 private:
  BaseModelOutput encode(const ModelInputs& inputs) override;

  GPT2Config sizes_;
  Embedding words_, positions_;
  std::vector<std::shared_ptr<GPT2Block>> blocks_;
  LayerNorm norm_ = nullptr;
};

/// The decoder, and a linear classifier on the last token of each text.
class GPT2ForSequenceClassification : public DecoderForSequenceClassification {
 public:
  explicit GPT2ForSequenceClassification(const PretrainedConfig& config);
};

/// The decoder, predicting the next tokens.
class GPT2LMHeadModel : public DecoderForCausalLM {
 public:
  explicit GPT2LMHeadModel(const PretrainedConfig& config);

 private:
  GPT2LMHeadModel(const PretrainedConfig& config, const std::shared_ptr<GPT2Model>& transformer);
};

}  // namespace transformers
