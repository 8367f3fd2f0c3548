// ALBERT (Lan et al., 2019): layers share their parameters; embeddings are smaller than the hidden size.

#include <ATen/ops/tanh.h>

#include "transformers/attention.h"
#include "transformers/models/bert.h"
#include "transformers/models/families.h"
#include "transformers/positions.h"

namespace transformers {

namespace {

/// BERT's layer with dropout only after attention.
class AlbertLayer : public Block {
 public:
  explicit AlbertLayer(const BertConfig& config);
  at::Tensor forward(at::Tensor x, const at::Tensor& mask);

 private:
  BertConfig config_;
  Activation activation_;
  LayerNorm output_norm_;
  Linear query_, key_, value_, attention_output_;
  LayerNorm attention_norm_;
  Linear inner_, output_;
};

/// The encoder, with a pooler.
class AlbertModel : public BaseModel {
 public:
  explicit AlbertModel(const PretrainedConfig& config);

 private:
  BaseModelOutput encode(const ModelInputs& inputs) override;

  BertConfig sizes_;
  std::shared_ptr<BertEmbeddings> embeddings_;
  Linear projection_;
  std::vector<std::vector<std::shared_ptr<AlbertLayer>>> groups_;
  Linear pooler_ = nullptr;
};

/// The encoder, and a linear classifier on its pooler.
class AlbertForSequenceClassification : public SequenceClassificationModel {
 public:
  explicit AlbertForSequenceClassification(const PretrainedConfig& config);

 private:
  at::Tensor classify(const ModelInputs& inputs) override;

  double classifier_dropout_;
  std::shared_ptr<AlbertModel> albert_;
  Linear classifier_;
};

BertConfig albert_sizes(const PretrainedConfig& config) {
  return BertConfig::from(config, {.vocab_size = 30000,
                                   .hidden_size = 4096,
                                   .num_attention_heads = 64,
                                   .intermediate_size = 16384,
                                   .embedding_size = 128,
                                   .hidden_dropout_prob = 0,
                                   .attention_probs_dropout_prob = 0,
                                   .hidden_act = "gelu_new"});
}

AlbertLayer::AlbertLayer(const BertConfig& config)
    : config_(config),
      activation_(activation(config.hidden_act)),
      output_norm_(layer_norm("full_layer_layer_norm", config.hidden_size, config.layer_norm_eps)),
      query_(linear("attention.query", config.hidden_size, config.hidden_size)),
      key_(linear("attention.key", config.hidden_size, config.hidden_size)),
      value_(linear("attention.value", config.hidden_size, config.hidden_size)),
      attention_output_(linear("attention.dense", config.hidden_size, config.hidden_size)),
      attention_norm_(layer_norm("attention.LayerNorm", config.hidden_size, config.layer_norm_eps)),
      inner_(linear("ffn", config.hidden_size, config.intermediate_size)),
      output_(linear("ffn_output", config.intermediate_size, config.hidden_size)) {}

at::Tensor AlbertLayer::forward(at::Tensor x, const at::Tensor& mask) {
  auto context = self_attention(x, query_, key_, value_, config_.head_size(), mask,
                                is_training() ? config_.attention_probs_dropout_prob : 0);
  x = attention_norm_(x + dropout(attention_output_(context), config_.hidden_dropout_prob));
  auto inner = activation_(inner_(x));
  return output_norm_(output_(inner) + x);
}

AlbertModel::AlbertModel(const PretrainedConfig& config)
    : BaseModel("AlbertModel", config, "albert"),
      sizes_(albert_sizes(config)),
      embeddings_(block("embeddings", std::make_shared<BertEmbeddings>(sizes_))),
      projection_(linear("encoder.embedding_hidden_mapping_in", sizes_.embedding_size, sizes_.hidden_size)),
      groups_(config.positive("num_hidden_groups", 1)) {
  for (size_t group = 0; group < groups_.size(); ++group) {
    for (int64_t i = 0; i < config.get<int64_t>("inner_group_num", 1); ++i) {
      auto path = "encoder.albert_layer_groups." + std::to_string(group) + ".albert_layers." + std::to_string(i);
      groups_[group].push_back(block(path, std::make_shared<AlbertLayer>(sizes_)));
    }
  }
  pooler_ = linear("pooler", sizes_.hidden_size, sizes_.hidden_size);
}

BaseModelOutput AlbertModel::encode(const ModelInputs& inputs) {
  check_inputs(inputs, sizes_.vocab_size, sizes_.max_position_embeddings);
  auto x = projection_(embeddings_->forward(inputs, positions_of(inputs)));
  auto mask = bidirectional_mask(inputs.attention_mask, x);
  for (int64_t i = 0; i < sizes_.num_hidden_layers; ++i) {
    const auto& group = groups_[i * groups_.size() / sizes_.num_hidden_layers];
    for (const auto& layer : group) {
      x = checkpointed(x, [&layer = *layer, mask](const at::Tensor& x) { return layer.forward(x, mask); });
    }
  }
  return {.last_hidden_state = x, .pooler_output = at::tanh(pooler_(x.select(1, 0)))};
}

AlbertForSequenceClassification::AlbertForSequenceClassification(const PretrainedConfig& config)
    : SequenceClassificationModel("AlbertForSequenceClassification", config, "albert"),
      classifier_dropout_(config.get("classifier_dropout_prob", 0.1)),
      albert_(block("albert", std::make_shared<AlbertModel>(config))),
      classifier_(linear("classifier", albert_sizes(config).hidden_size, config.num_labels())) {}

at::Tensor AlbertForSequenceClassification::classify(const ModelInputs& inputs) {
  return classifier_(dropout(albert_->forward(inputs).pooler_output, classifier_dropout_));
}

}  // namespace

namespace models {

Architecture albert() {
  return {.model_type = "albert",
          .base = make<AlbertModel>(),
          .sequence_classification = make<AlbertForSequenceClassification>()};
}

}  // namespace models

}  // namespace transformers
