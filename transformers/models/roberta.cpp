#include "transformers/models/roberta.h"

namespace transformers {

namespace {

BertConfig roberta_sizes(const PretrainedConfig& config, const RobertaFamily& family) {
  return BertConfig::from(config, {.vocab_size = family.vocab_size, .pad_token_id = 1});
}

std::shared_ptr<ClassificationHead> roberta_head(const PretrainedConfig& config, const BertConfig& sizes) {
  return std::make_shared<ClassificationHead>(
      ClassificationHeadOptions{.hidden_size = sizes.hidden_size,
                                .num_labels = config.num_labels(),
                                .dropout = config.get("classifier_dropout", sizes.hidden_dropout_prob)});
}

}  // namespace

RobertaModel::RobertaModel(const PretrainedConfig& config, const RobertaFamily& family, bool with_pooler)
    : BertModel(config, roberta_sizes(config, family),
                {.class_name = family.name + "Model",
                 .base_model_prefix = "roberta",
                 .positions_after_padding = true,
                 .with_pooler = with_pooler}) {}

RobertaForSequenceClassification::RobertaForSequenceClassification(const PretrainedConfig& config,
                                                                   const RobertaFamily& family)
    : SequenceClassificationModel(family.name + "ForSequenceClassification", config, "roberta"),
      roberta_(std::make_shared<RobertaModel>(config, family, /*with_pooler=*/false)),
      classifier_(roberta_head(config, roberta_sizes(config, family))) {
  if (family.classifier_first) block("classifier", classifier_);
  block("roberta", roberta_);
  if (!family.classifier_first) block("classifier", classifier_);
}

at::Tensor RobertaForSequenceClassification::classify(const ModelInputs& inputs) {
  return classifier_->forward(roberta_->forward(inputs).last_hidden_state);
}

}  // namespace transformers
