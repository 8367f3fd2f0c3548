#include "transformers/models/bert.h"

#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>

#include "transformers/attention.h"
#include "transformers/config_checks.h"
#include "transformers/models/families.h"
#include "transformers/positions.h"

namespace transformers {

BertConfig BertConfig::from(const PretrainedConfig& config, const BertConfig& defaults) {
  auto sizes = defaults;
  config.read("vocab_size", sizes.vocab_size);
  config.read("hidden_size", sizes.hidden_size);
  config.read("num_hidden_layers", sizes.num_hidden_layers);
  config.read("num_attention_heads", sizes.num_attention_heads);
  config.read("intermediate_size", sizes.intermediate_size);
  config.read("max_position_embeddings", sizes.max_position_embeddings);
  config.read("type_vocab_size", sizes.type_vocab_size);
  config.read("pad_token_id", sizes.pad_token_id);
  config.read("hidden_dropout_prob", sizes.hidden_dropout_prob);
  config.read("attention_probs_dropout_prob", sizes.attention_probs_dropout_prob);
  config.read("layer_norm_eps", sizes.layer_norm_eps);
  config.read("hidden_act", sizes.hidden_act);
  if (sizes.embedding_size > 0) {
    config.read("embedding_size", sizes.embedding_size);
  } else {
    sizes.embedding_size = sizes.hidden_size;
  }
  if (defaults.type_vocab_size > 0) sizes.type_vocab_size = config.positive("type_vocab_size", sizes.type_vocab_size);
  check_heads(config, {"hidden_size", sizes.hidden_size}, {"num_attention_heads", sizes.num_attention_heads});
  check_padding(config, sizes.pad_token_id, sizes.vocab_size);
  return sizes;
}

BertConfig BertConfig::from(const PretrainedConfig& config) { return from(config, {}); }

BertEmbeddings::BertEmbeddings(const BertConfig& config, std::optional<int64_t> position_padding)
    : dropout_(config.hidden_dropout_prob),
      word_embeddings_(embedding("word_embeddings", config.vocab_size, config.embedding_size, config.pad_token_id)) {
  auto add_positions = [&] {
    position_embeddings_ =
        embedding("position_embeddings", config.max_position_embeddings, config.embedding_size, position_padding);
  };
  // If padding has a position, the position table is the last of these modules, as in Python.
  if (!position_padding) add_positions();
  token_type_embeddings_ = embedding("token_type_embeddings", config.type_vocab_size, config.embedding_size);
  norm_ = layer_norm("LayerNorm", config.embedding_size, config.layer_norm_eps);
  if (position_padding) add_positions();
}

at::Tensor BertEmbeddings::forward(const ModelInputs& inputs, const at::Tensor& position_ids) {
  auto words = word_embeddings_(inputs.input_ids);
  auto types = inputs.token_type_ids.defined() ? inputs.token_type_ids : at::zeros_like(inputs.input_ids);
  auto x = words + token_type_embeddings_(types);
  x = x + position_embeddings_(position_ids);
  return dropout(norm_(x), dropout_);
}

void BertFeedForward::add_feed_forward(const BertConfig& config) {
  dropout_ = config.hidden_dropout_prob;
  activation_ = activation(config.hidden_act);
  intermediate_ = linear("intermediate.dense", config.hidden_size, config.intermediate_size);
  output_ = linear("output.dense", config.intermediate_size, config.hidden_size);
  output_norm_ = layer_norm("output.LayerNorm", config.hidden_size, config.layer_norm_eps);
}

at::Tensor BertFeedForward::feed_forward(const at::Tensor& x) {
  auto inner = activation_(intermediate_(x));
  return output_norm_(dropout(output_(inner), dropout_) + x);
}

BertLayer::BertLayer(const BertConfig& config)
    : config_(config),
      query_(linear("attention.self.query", config.hidden_size, config.hidden_size)),
      key_(linear("attention.self.key", config.hidden_size, config.hidden_size)),
      value_(linear("attention.self.value", config.hidden_size, config.hidden_size)),
      attention_output_(linear("attention.output.dense", config.hidden_size, config.hidden_size)),
      attention_norm_(layer_norm("attention.output.LayerNorm", config.hidden_size, config.layer_norm_eps)) {
  add_feed_forward(config);
}

at::Tensor BertLayer::forward(at::Tensor x, const at::Tensor& mask) {
  auto context = self_attention(x, query_, key_, value_, config_.head_size(), mask,
                                is_training() ? config_.attention_probs_dropout_prob : 0);
  x = attention_norm_(dropout(attention_output_(context), config_.hidden_dropout_prob) + x);
  return feed_forward(x);
}

BertModel::BertModel(const PretrainedConfig& config, const BertConfig& sizes, const BertVariant& variant)
    : BaseModel(variant.class_name, config, variant.base_model_prefix),
      sizes_(sizes),
      positions_after_padding_(variant.positions_after_padding),
      embeddings_(block("embeddings", std::make_shared<BertEmbeddings>(sizes, variant.positions_after_padding
                                                                                  ? std::optional(sizes.pad_token_id)
                                                                                  : std::nullopt))) {
  if (variant.positions_after_padding) {
    if (sizes.pad_token_id < 0 || sizes.pad_token_id + 1 >= sizes.max_position_embeddings) {
      config.refuse({{"pad_token_id", sizes.pad_token_id}, {"max_position_embeddings", sizes.max_position_embeddings}},
                    "positions start after the id of the padding token, so there must be at least one more");
    }
  }
  if (sizes.embedding_size != sizes.hidden_size) {
    projection_ = linear("embeddings_project", sizes.embedding_size, sizes.hidden_size);
  }
  for (int64_t i = 0; i < sizes.num_hidden_layers; ++i) {
    layers_.push_back(block("encoder.layer." + std::to_string(i), std::make_shared<BertLayer>(sizes)));
  }
  if (variant.with_pooler) pooler_ = linear("pooler.dense", sizes.hidden_size, sizes.hidden_size);
}

BaseModelOutput BertModel::encode(const ModelInputs& inputs) {
  auto unused_positions = positions_after_padding_ ? sizes_.pad_token_id + 1 : 0;
  check_inputs(inputs, sizes_.vocab_size, sizes_.max_position_embeddings - unused_positions);
  auto positions =
      positions_after_padding_ ? positions_after_padding(inputs, sizes_.pad_token_id) : positions_of(inputs);
  auto x = embeddings_->forward(inputs, positions);
  if (projection_) x = projection_(x);
  auto mask = bidirectional_mask(inputs.attention_mask, x);
  for (const auto& layer : layers_) {
    x = checkpointed(x, [&layer = *layer, mask](const at::Tensor& x) { return layer.forward(x, mask); });
  }
  return {.last_hidden_state = x, .pooler_output = pooler_ ? at::tanh(pooler_(x.select(1, 0))) : at::Tensor()};
}

BertForSequenceClassification::BertForSequenceClassification(const PretrainedConfig& config)
    : SequenceClassificationModel("BertForSequenceClassification", config, "bert"),
      classifier_dropout_(config.get("classifier_dropout", BertConfig::from(config).hidden_dropout_prob)),
      bert_(block("bert", std::make_shared<BertModel>(config))),
      classifier_(linear("classifier", BertConfig::from(config).hidden_size, config.num_labels())) {}

at::Tensor BertForSequenceClassification::classify(const ModelInputs& inputs) {
  return classifier_(dropout(bert_->forward(inputs).pooler_output, classifier_dropout_));
}

namespace models {

Architecture bert() {
  return {.model_type = "bert",
          .base = make<BertModel>(),
          .sequence_classification = make<BertForSequenceClassification>()};
}

}  // namespace models

}  // namespace transformers
