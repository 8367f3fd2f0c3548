#pragma once

// What stands on top of a decoder: a classifier, or the prediction of the next token.

#include "transformers/pretrained_model.h"

namespace transformers {

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
  /// A head that is tied is the table of words.
  std::string other_name_of(std::string_view weight) const override;

 protected:
  /// Registers `decoder` under `prefix`. When `tied`, the table `words` gives the logits; else a layer "lm_head" does.
  DecoderForCausalLM(std::string class_name, const PretrainedConfig& config, const std::string& prefix,
                     std::shared_ptr<BaseModel> decoder, Embedding words, bool tied);

 private:
  at::Tensor predict(const ModelInputs& inputs) override;

  std::shared_ptr<BaseModel> decoder_;
  Embedding words_;
  Linear head_ = nullptr;
};

/// Of `per_token` [batch, length, ...] what belongs to the last token of each text that is not `padding`. Throws Error
/// without `padding` unless there is one text.
at::Tensor at_last_token(const at::Tensor& per_token, const at::Tensor& input_ids, std::optional<int64_t> padding);

}  // namespace transformers
