// ELECTRA (Clark et al., 2020): BERT's layers, trained to detect replaced tokens, with embeddings that may be smaller.

#include "transformers/heads.h"
#include "transformers/models/bert.h"
#include "transformers/models/families.h"

namespace transformers {

namespace {

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

BertConfig electra_sizes(const PretrainedConfig& config) {
  return BertConfig::from(
      config, {.hidden_size = 256, .num_attention_heads = 4, .intermediate_size = 1024, .embedding_size = 128});
}

std::shared_ptr<ClassificationHead> electra_head(const PretrainedConfig& config, const BertConfig& sizes) {
  return std::make_shared<ClassificationHead>(
      ClassificationHeadOptions{.hidden_size = sizes.hidden_size,
                                .num_labels = config.num_labels(),
                                .dropout = config.get("classifier_dropout", sizes.hidden_dropout_prob),
                                .activation = "gelu"});
}

ElectraModel::ElectraModel(const PretrainedConfig& config)
    : BertModel(config, electra_sizes(config),
                {.class_name = "ElectraModel", .base_model_prefix = "electra", .with_pooler = false}) {}

ElectraForSequenceClassification::ElectraForSequenceClassification(const PretrainedConfig& config)
    : SequenceClassificationModel("ElectraForSequenceClassification", config, "electra"),
      electra_(block("electra", std::make_shared<ElectraModel>(config))),
      classifier_(block("classifier", electra_head(config, electra_sizes(config)))) {}

at::Tensor ElectraForSequenceClassification::classify(const ModelInputs& inputs) {
  return classifier_->forward(electra_->forward(inputs).last_hidden_state);
}

}  // namespace

namespace models {

Architecture electra() {
  return {.model_type = "electra",
          .base = make<ElectraModel>(),
          .sequence_classification = make<ElectraForSequenceClassification>()};
}

}  // namespace models

}  // namespace transformers
