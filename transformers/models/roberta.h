#pragma once

// RoBERTa (Liu et al., 2019): BERT trained better. XLM-RoBERTa and CamemBERT are the same model for more languages, and
// for French.

#include "transformers/classification_head.h"
#include "transformers/models/bert.h"

namespace transformers {

/// What the models made like RoBERTa are called, and what their configurations mean when they say nothing.
struct RobertaFamily {
  std::string name = "Roberta";
  int64_t vocab_size = 50265;
  bool classifier_first = false;  // whether the classifier comes before the model in the order of parameters
};

/// The encoder, with a pooler unless that is not wanted.
class RobertaModel : public BertModel {
 public:
  explicit RobertaModel(const PretrainedConfig& config, const RobertaFamily& family = {}, bool with_pooler = true);
};

/// The encoder, and a classifier with one hidden layer on its first token.
class RobertaForSequenceClassification : public SequenceClassificationModel {
 public:
  explicit RobertaForSequenceClassification(const PretrainedConfig& config, const RobertaFamily& family = {});

 private:
  at::Tensor classify(const ModelInputs& inputs) override;

  std::shared_ptr<RobertaModel> roberta_;
  std::shared_ptr<ClassificationHead> classifier_;
};

inline const RobertaFamily kXlmRoberta = {.name = "XLMRoberta", .vocab_size = 30522, .classifier_first = true};
inline const RobertaFamily kCamembert = {.name = "Camembert", .vocab_size = 30522, .classifier_first = true};

}  // namespace transformers
