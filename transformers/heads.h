#pragma once

// Heads that several models share: RoBERTa's classifier on the first token, and the heads of decoders.

#include "transformers/activations.h"
#include "transformers/layers.h"
#include "transformers/pretrained_model.h"

namespace transformers {

struct ClassificationHeadOptions {
  int64_t hidden_size = 0, num_labels = 0;
  double dropout = 0;
  std::string activation = "tanh";
};

/// Dropout, dense layer, activation, dropout, output layer; applied to the first token.
class ClassificationHead : public Block {
 public:
  explicit ClassificationHead(const ClassificationHeadOptions& options);

  /// Logits [batch, labels] from hidden states [batch, length, hidden].
  at::Tensor forward(const at::Tensor& hidden_states);

 private:
  double dropout_;
  Activation activation_;
  Linear dense_, output_;
};

/// Classifies by the last token of each text that is not padding.
class DecoderForSequenceClassification : public SequenceClassificationModel {
 protected:
  /// Registers `decoder` under `prefix` and the classifier as "score".
  DecoderForSequenceClassification(std::string class_name, const PretrainedConfig& config, const std::string& prefix,
                                   std::shared_ptr<BaseModel> decoder, int64_t hidden_size);

 private:
  at::Tensor classify(const ModelInputs& inputs) override;

  std::shared_ptr<BaseModel> decoder_;
  Linear score_;
};

/// Predicts each text's next tokens.
class DecoderForCausalLM : public CausalLMModel {
 public:
  /// If the head is tied, its weight is another name of the token embeddings.
  std::string other_name_of(std::string_view weight) const override;

 protected:
  /// Registers `decoder` under `prefix`. If `tied`, the logits are computed with the weight of `words`, else with a
  /// layer "lm_head".
  DecoderForCausalLM(std::string class_name, const PretrainedConfig& config, const std::string& prefix,
                     std::shared_ptr<BaseModel> decoder, Embedding words, bool tied);

 private:
  at::Tensor predict(const ModelInputs& inputs) override;

  std::shared_ptr<BaseModel> decoder_;
  Embedding words_;
  Linear head_ = nullptr;
};

/// Selects from `per_token` [batch, length, ...] the last token of each text that is not `padding`. Without `padding`
/// it selects the last token; throws Error if the batch then has more than one text.
at::Tensor at_last_token(const at::Tensor& per_token, const at::Tensor& input_ids, std::optional<int64_t> padding);

}  // namespace transformers
