#pragma once

// MPNet (Song et al., 2020): BERT's layers with learnt biases for the distance of two tokens.

#include "transformers/classification_head.h"
#include "transformers/models/bert.h"

namespace transformers {

/// Words and positions, added up.
class MPNetEmbeddings : public Block {
 public:
  explicit MPNetEmbeddings(const BertConfig& config);
  at::Tensor forward(const ModelInputs& inputs);

 private:
  double dropout_;
  Embedding word_embeddings_, position_embeddings_;
  LayerNorm norm_;
};

/// BERT's layer, with a bias added to what each head thinks of two positions.
class MPNetLayer : public BertFeedForward {
 public:
  explicit MPNetLayer(const BertConfig& config);

  /// `position_bias` is [batch, heads, length, length]; `mask` is added to the scores, if defined.
  at::Tensor forward(at::Tensor x, const at::Tensor& mask, const at::Tensor& position_bias);

 private:
  BertConfig config_;
  Linear query_, key_, value_, attention_output_;
  LayerNorm attention_norm_;
};

/// The encoder, with a pooler unless that is not wanted.
class MPNetModel : public BaseModel {
 public:
  explicit MPNetModel(const PretrainedConfig& config, bool with_pooler = true);

 private:
  BaseModelOutput encode(const ModelInputs& inputs) override;

  BertConfig sizes_;
  std::shared_ptr<MPNetEmbeddings> embeddings_;
  std::vector<std::shared_ptr<MPNetLayer>> layers_;
  Embedding relative_attention_bias_ = nullptr;
  Linear pooler_ = nullptr;
};

/// The encoder, and a classifier with one hidden layer on its first token.
class MPNetForSequenceClassification : public SequenceClassificationModel {
 public:
  explicit MPNetForSequenceClassification(const PretrainedConfig& config);

 private:
  at::Tensor classify(const ModelInputs& inputs) override;

  std::shared_ptr<MPNetModel> mpnet_;
  std::shared_ptr<ClassificationHead> classifier_;
};

}  // namespace transformers
