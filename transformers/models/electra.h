#pragma once

// ELECTRA (Clark et al., 2020): BERT's layers, trained to tell replaced tokens, with embeddings that may be smaller.

#include "transformers/classification_head.h"
#include "transformers/models/bert.h"

namespace transformers {

/// The encoder; without a pooler.
class ElectraModel : public BertModel {
 public:
  explicit ElectraModel(const PretrainedConfig& config);
};

/// The encoder, and a classifier with one hidden layer on its first token.
class ElectraForSequenceClassification : public SequenceClassificationModel {
 public:
  explicit ElectraForSequenceClassification(const PretrainedConfig& config);

 private:
  at::Tensor classify(const ModelInputs& inputs) override;

  std::shared_ptr<ElectraModel> electra_;
  std::shared_ptr<ClassificationHead> classifier_;
};

}  // namespace transformers
