// RoBERTa (Liu et al., 2019): BERT with another training recipe. XLM-RoBERTa is the same model for many languages,
// CamemBERT for French.

#include "transformers/heads.h"
#include "transformers/models/bert.h"
#include "transformers/models/families.h"

namespace transformers {

namespace {

/// The class names of a model like RoBERTa, and the defaults of its configuration.
struct RobertaFamily {
  std::string name = "Roberta";
  int64_t vocab_size = 50265;
  bool classifier_first = false;  // whether the classifier comes before the model in the order of parameters
};

/// The encoder, with an optional pooler.
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

const RobertaFamily kXlmRoberta = {.name = "XLMRoberta", .vocab_size = 30522, .classifier_first = true};
const RobertaFamily kCamembert = {.name = "Camembert", .vocab_size = 30522, .classifier_first = true};

BertConfig roberta_sizes(const PretrainedConfig& config, const RobertaFamily& family) {
  return BertConfig::from(config, {.vocab_size = family.vocab_size, .pad_token_id = 1});
}

std::shared_ptr<ClassificationHead> roberta_head(const PretrainedConfig& config, const BertConfig& sizes) {
  return std::make_shared<ClassificationHead>(
      ClassificationHeadOptions{.hidden_size = sizes.hidden_size,
                                .num_labels = config.num_labels(),
                                .dropout = config.get("classifier_dropout", sizes.hidden_dropout_prob)});
}

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

}  // namespace

namespace models {

Architecture roberta() {
  return {.model_type = "roberta",
          .base = make<RobertaModel>(),
          .sequence_classification = make<RobertaForSequenceClassification>()};
}

Architecture xlm_roberta() {
  return {.model_type = "xlm-roberta",
          .base = make<RobertaModel>(kXlmRoberta),
          .sequence_classification = make<RobertaForSequenceClassification>(kXlmRoberta)};
}

Architecture camembert() {
  return {.model_type = "camembert",
          .base = make<RobertaModel>(kCamembert),
          .sequence_classification = make<RobertaForSequenceClassification>(kCamembert)};
}

}  // namespace models

}  // namespace transformers
