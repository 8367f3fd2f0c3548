#pragma once

// ALBERT (Lan et al., 2019): one layer, or a few, used again and again; small embeddings.

#include "transformers/models/bert.h"

namespace transformers {

/// BERT's layer with dropout after attention alone.
class AlbertLayer : public Block {
 public:
  explicit AlbertLayer(const BertConfig& config);
  at::Tensor forward(at::Tensor x, const at::Tensor& mask);

 private:
  BertConfig config_;
  Activation activation_;
  LayerNorm output_norm_;
  Linear query_, key_, value_, attention_output_;
  LayerNorm attention_norm_;
  Linear inner_, output_;
};

/// The encoder, with a pooler.
class AlbertModel : public BaseModel {
 public:
  explicit AlbertModel(const PretrainedConfig& config);

 private:
  BaseModelOutput encode(const ModelInputs& inputs) override;

  BertConfig sizes_;
  std::shared_ptr<BertEmbeddings> embeddings_;
  Linear projection_;
  std::vector<std::vector<std::shared_ptr<AlbertLayer>>> groups_;
  Linear pooler_ = nullptr;
};

/// The encoder, and a linear classifier on its pooler.
class AlbertForSequenceClassification : public SequenceClassificationModel {
 public:
  explicit AlbertForSequenceClassification(const PretrainedConfig& config);

 private:
  at::Tensor classify(const ModelInputs& inputs) override;

  double classifier_dropout_;
  std::shared_ptr<AlbertModel> albert_;
  Linear classifier_;
};

}  // namespace transformers
