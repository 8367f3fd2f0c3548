#pragma once

// DeBERTa-v2 and v3 (He et al., 2020 and 2021): what a token says and where it stands attend to each other separately.

#include <vector>

#include "transformers/models/deberta_v2_attention.h"

namespace transformers {

/// Words, and where the model has them positions and segments, added up.
class DebertaV2Embeddings : public Block {
 public:
  explicit DebertaV2Embeddings(const DebertaV2Config& config);
  at::Tensor forward(const ModelInputs& inputs);

 private:
  double dropout_;
  Embedding word_embeddings_, position_embeddings_ = nullptr, token_type_embeddings_ = nullptr;
  Linear projection_ = nullptr;
  LayerNorm norm_ = nullptr;
};

/// BERT's layer with disentangled attention.
class DebertaV2Layer : public BertFeedForward {
 public:
  explicit DebertaV2Layer(const DebertaV2Config& config);
  at::Tensor forward(at::Tensor x, const DebertaV2Context& context, const at::Tensor& distances);

 private:
  double dropout_;
  std::shared_ptr<DebertaV2Attention> attention_;
  Linear attention_output_;
  LayerNorm attention_norm_;
};

/// A convolution over neighbouring tokens, beside the first layer.
class DebertaV2Convolution : public Block {
 public:
  explicit DebertaV2Convolution(const DebertaV2Config& config);

  /// `x` is what the first layer was given, `residual` what it made of it; `attention_mask` may be undefined.
  at::Tensor forward(const at::Tensor& x, const at::Tensor& residual, const at::Tensor& attention_mask);

 private:
  class KernelImpl;

  double dropout_;
  Activation activation_;
  std::shared_ptr<KernelImpl> kernel_;
  LayerNorm norm_;
};

/// The encoder; without a pooler.
class DebertaV2Model : public BaseModel {
 public:
  explicit DebertaV2Model(const PretrainedConfig& config);
  const DebertaV2Config& sizes() const { return sizes_; }
  bool ignores(std::string_view weight) const override;

 private:
  BaseModelOutput encode(const ModelInputs& inputs) override;

  DebertaV2Config sizes_;
  std::shared_ptr<DebertaV2Embeddings> embeddings_;
  std::vector<std::shared_ptr<DebertaV2Layer>> layers_;
  Embedding distances_ = nullptr;
  LayerNorm distances_norm_ = nullptr;
  std::shared_ptr<DebertaV2Convolution> convolution_;
};

/// The encoder, and a pooler and a linear classifier on its first token.
class DebertaV2ForSequenceClassification : public SequenceClassificationModel {
 public:
  explicit DebertaV2ForSequenceClassification(const PretrainedConfig& config);
  bool ignores(std::string_view weight) const override { return deberta_->ignores(weight); }

 private:
  at::Tensor classify(const ModelInputs& inputs) override;
  at::Tensor loss(const at::Tensor& logits, const at::Tensor& labels) override;

  Activation pooler_activation_;
  std::shared_ptr<DebertaV2Model> deberta_;
  double pooler_dropout_, classifier_dropout_;
  Linear pooler_ = nullptr, classifier_ = nullptr;
};

}  // namespace transformers
