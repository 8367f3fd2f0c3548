#pragma once

// ModernBERT (Warner et al., 2024): an encoder with rotary positions, gated feed-forward networks, no biases, and
// layers of which most look only around each token.

#include <vector>

#include "transformers/activations.h"
#include "transformers/pretrained_model.h"
#include "transformers/rotary.h"

namespace transformers {

/// The sizes of ModernBERT.
struct ModernBertConfig {
  int64_t vocab_size, hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, pad_token_id;
  int64_t max_position_embeddings;
  int64_t local_attention;  // how many tokens a local layer sees, half of them to each side
  double norm_eps, attention_dropout, embedding_dropout, mlp_dropout, classifier_dropout;
  bool norm_bias, attention_bias, mlp_bias, classifier_bias;
  std::string hidden_activation, classifier_activation, classifier_pooling;
  double initializer_range, initializer_cutoff_factor;
  std::vector<bool> is_local;  // by layer

  explicit ModernBertConfig(const PretrainedConfig& config);

  int64_t head_size() const { return hidden_size / num_attention_heads; }

  /// The standard deviation of new weights that add to the residual stream: smaller in deeper models.
  double residual_range() const;
};

/// Words alone: positions come in with attention.
class ModernBertEmbeddings : public Block {
 public:
  explicit ModernBertEmbeddings(const ModernBertConfig& config);
  at::Tensor forward(const at::Tensor& input_ids);
  void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) override;

 private:
  ModernBertConfig config_;
  Embedding words_;
  LayerNorm norm_;
};

/// Attention with rotated queries and keys, and one projection for these and the values.
class ModernBertAttention : public Block {
 public:
  explicit ModernBertAttention(const ModernBertConfig& config);
  at::Tensor forward(const at::Tensor& x, const at::Tensor& mask, const Rotation& rotation);
  void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) override;

 private:
  ModernBertConfig config_;
  Linear query_key_value_, output_;
};

/// The gated feed-forward network.
class ModernBertMLP : public Block {
 public:
  explicit ModernBertMLP(const ModernBertConfig& config);
  at::Tensor forward(const at::Tensor& x);
  void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) override;

 private:
  ModernBertConfig config_;
  Activation activation_;
  Linear inner_, output_;
};

/// Attention and a feed-forward network, each after a normalisation and added to its input.
class ModernBertLayer : public Block {
 public:
  /// The first layer has no norm before attention: the embeddings are normalised already.
  ModernBertLayer(const ModernBertConfig& config, bool is_first);
  at::Tensor forward(at::Tensor x, const at::Tensor& mask, const Rotation& rotation);

 private:
  LayerNorm attention_norm_ = nullptr;
  std::shared_ptr<ModernBertAttention> attention_;
  LayerNorm mlp_norm_ = nullptr;
  std::shared_ptr<ModernBertMLP> mlp_;
};

/// The encoder; without a pooler.
class ModernBertModel : public BaseModel {
 public:
  explicit ModernBertModel(const PretrainedConfig& config);

 private:
  BaseModelOutput encode(const ModelInputs& inputs) override;

  ModernBertConfig sizes_;
  RotaryEmbedding global_rotary_, local_rotary_;
  std::shared_ptr<ModernBertEmbeddings> embeddings_;
  std::vector<std::shared_ptr<ModernBertLayer>> layers_;
  LayerNorm norm_ = nullptr;
};

/// A hidden layer between a text's vector and what is predicted from it.
class ModernBertPredictionHead : public Block {
 public:
  explicit ModernBertPredictionHead(const ModernBertConfig& config);
  at::Tensor forward(const at::Tensor& x);
  void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) override;

 private:
  ModernBertConfig config_;
  Activation activation_;
  Linear dense_;
  LayerNorm norm_;
};

/// The encoder, and a head and a linear classifier on the first token or on the mean of all.
class ModernBertForSequenceClassification : public SequenceClassificationModel {
 public:
  explicit ModernBertForSequenceClassification(const PretrainedConfig& config);
  void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) override;

 private:
  at::Tensor classify(const ModelInputs& inputs) override;

  ModernBertConfig sizes_;
  std::shared_ptr<ModernBertModel> model_;
  std::shared_ptr<ModernBertPredictionHead> head_;
  Linear classifier_;
};

}  // namespace transformers
