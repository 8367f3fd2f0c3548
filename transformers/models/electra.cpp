#include "transformers/models/electra.h"

namespace transformers {

namespace {

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

}  // namespace

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

}  // namespace transformers
