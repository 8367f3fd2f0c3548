#pragma once

// DistilBERT (Sanh et al., 2019): half of BERT's layers, without segments and pooler.

#include "transformers/activations.h"
#include "transformers/pretrained_model.h"

namespace transformers {

/// The sizes of DistilBERT, under its own names.
struct DistilBertConfig {
  int64_t vocab_size, max_position_embeddings, n_layers, n_heads, dim, hidden_dim, pad_token_id;
  double dropout, attention_dropout;
  std::string activation;
  bool sinusoidal_pos_embds;

  explicit DistilBertConfig(const PretrainedConfig& config);
};

/// Words and positions, added up.
class DistilBertEmbeddings : public Block {
 public:
  explicit DistilBertEmbeddings(const DistilBertConfig& config);
  at::Tensor forward(const at::Tensor& input_ids, const at::Tensor& position_ids);
  void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) override;

 private:
  double dropout_;
  bool sinusoidal_;
  Embedding word_embeddings_, position_embeddings_;
  LayerNorm norm_;
};

/// Attention and a feed-forward network, each followed by the sum with its input and a normalisation.
class DistilBertLayer : public Block {
 public:
  explicit DistilBertLayer(const DistilBertConfig& config);
  at::Tensor forward(at::Tensor x, const at::Tensor& mask);

 private:
  DistilBertConfig config_;
  Activation activation_;
  Linear query_, key_, value_, attention_output_;
  LayerNorm attention_norm_;
  Linear inner_, output_;
  LayerNorm output_norm_;
};

/// The encoder; without a pooler.
class DistilBertModel : public BaseModel {
 public:
  explicit DistilBertModel(const PretrainedConfig& config);
  const DistilBertConfig& sizes() const { return sizes_; }

 private:
  BaseModelOutput encode(const ModelInputs& inputs) override;

  DistilBertConfig sizes_;
  std::shared_ptr<DistilBertEmbeddings> embeddings_;
  std::vector<std::shared_ptr<DistilBertLayer>> layers_;
};

/// The encoder, and a classifier with one hidden layer on its first token.
class DistilBertForSequenceClassification : public SequenceClassificationModel {
 public:
  explicit DistilBertForSequenceClassification(const PretrainedConfig& config);

 private:
  at::Tensor classify(const ModelInputs& inputs) override;

  double dropout_;
  std::shared_ptr<DistilBertModel> distilbert_;
  Linear pre_classifier_, classifier_;
};

}  // namespace transformers
