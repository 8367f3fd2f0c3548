#pragma once

// Heads that models share: the classifier on the first token (RoBERTa), and those of decoders.

#include "transformers/activations.h"
#include "transformers/layers.h"
#include "transformers/pretrained_model.h"

namespace transformers {

struct ClassificationHeadOptions {
  int64_t hidden_size = 0, num_labels = 0;
  double dropout = 0;
  std::string activation = "tanh";
};

/// A hidden layer and a linear one, each after dropout.
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
