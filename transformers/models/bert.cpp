#include "transformers/models/bert.h"

#include <cmath>

#include <ATen/ops/arange.h>
#include <ATen/ops/tanh.h>
#include <ATen/ops/zeros_like.h>

#include "transformers/attention.h"

namespace transformers {

BertConfig::BertConfig(const PretrainedConfig& config)
    : vocab_size(config.get<int64_t>("vocab_size", 30522)),
      hidden_size(config.get<int64_t>("hidden_size", 768)),
      num_hidden_layers(config.get<int64_t>("num_hidden_layers", 12)),
      num_attention_heads(config.get<int64_t>("num_attention_heads", 12)),
      intermediate_size(config.get<int64_t>("intermediate_size", 3072)),
      max_position_embeddings(config.get<int64_t>("max_position_embeddings", 512)),
      type_vocab_size(config.get<int64_t>("type_vocab_size", 2)),
      pad_token_id(config.get<int64_t>("pad_token_id", 0)),
      hidden_dropout_prob(config.get("hidden_dropout_prob", 0.1)),
      attention_probs_dropout_prob(config.get("attention_probs_dropout_prob", 0.1)),
      classifier_dropout(config.get("classifier_dropout", hidden_dropout_prob)),
      layer_norm_eps(config.get("layer_norm_eps", 1e-12)),
      hidden_act(activation(config.get<std::string>("hidden_act", "gelu"))) {
  check_heads(hidden_size, num_attention_heads);
}

BertEmbeddings::BertEmbeddings(const BertConfig& config, std::optional<int64_t> position_padding)
    : config_(config),
      word_embeddings_(embedding("word_embeddings", config.vocab_size, config.hidden_size, config.pad_token_id)),
      position_embeddings_(
          embedding("position_embeddings", config.max_position_embeddings, config.hidden_size, position_padding)),
      token_type_embeddings_(embedding("token_type_embeddings", config.type_vocab_size, config.hidden_size)),
      norm_(layer_norm("LayerNorm", config.hidden_size, config.layer_norm_eps)) {}

at::Tensor BertEmbeddings::forward(const ModelInputs& inputs, const at::Tensor& position_ids) {
  auto words = word_embeddings_(inputs.input_ids);
  auto types = inputs.token_type_ids.defined() ? inputs.token_type_ids : at::zeros_like(inputs.input_ids);
  auto x = words + token_type_embeddings_(types);
  x = x + position_embeddings_(position_ids);
  return dropout(norm_(x), config_.hidden_dropout_prob);
}

BertLayer::BertLayer(const BertConfig& config)
    : config_(config),
      query_(linear("attention.self.query", config.hidden_size, config.hidden_size)),
      key_(linear("attention.self.key", config.hidden_size, config.hidden_size)),
      value_(linear("attention.self.value", config.hidden_size, config.hidden_size)),
      attention_output_(linear("attention.output.dense", config.hidden_size, config.hidden_size)),
      attention_norm_(layer_norm("attention.output.LayerNorm", config.hidden_size, config.layer_norm_eps)),
      intermediate_(linear("intermediate.dense", config.hidden_size, config.intermediate_size)),
      output_(linear("output.dense", config.intermediate_size, config.hidden_size)),
      output_norm_(layer_norm("output.LayerNorm", config.hidden_size, config.layer_norm_eps)) {}

at::Tensor BertLayer::forward(at::Tensor x, const at::Tensor& mask) {
  auto head_size = config_.hidden_size / config_.num_attention_heads;
  // One statement each: the order in which gradients are added up is part of their bits.
  auto query = split_heads(query_(x), head_size);
  auto key = split_heads(key_(x), head_size);
  auto value = split_heads(value_(x), head_size);
  auto context = attend(query, key, value, mask,
                        {.dropout = is_training() ? config_.attention_probs_dropout_prob : 0,
                         .scale = std::pow(static_cast<double>(head_size), -0.5)});
  x = attention_norm_(dropout(attention_output_(context), config_.hidden_dropout_prob) + x);
  auto inner = config_.hidden_act(intermediate_(x));
  return output_norm_(dropout(output_(inner), config_.hidden_dropout_prob) + x);
}

BertModel::BertModel(const PretrainedConfig& config, bool with_pooler)
    : BaseModel("BertModel", config),
      sizes_(config),
      embeddings_(block("embeddings", std::make_shared<BertEmbeddings>(sizes_))) {
  for (int64_t i = 0; i < sizes_.num_hidden_layers; ++i) {
    layers_.push_back(block("encoder.layer." + std::to_string(i), std::make_shared<BertLayer>(sizes_)));
  }
  if (with_pooler) pooler_ = linear("pooler.dense", sizes_.hidden_size, sizes_.hidden_size);
}

BaseModelOutput BertModel::encode(const ModelInputs& inputs) {
  check_inputs(inputs, sizes_.vocab_size, sizes_.max_position_embeddings);
  auto positions = inputs.position_ids.defined() ? inputs.position_ids : counted_positions(inputs.input_ids);
  auto x = embeddings_->forward(inputs, positions);
  auto mask = bidirectional_mask(inputs.attention_mask, x);
  for (const auto& layer : layers_) {
    x = checkpointed(x, [&layer = *layer, mask](const at::Tensor& x) { return layer.forward(x, mask); });
  }
  return {.last_hidden_state = x, .pooler_output = pooler_ ? at::tanh(pooler_(x.select(1, 0))) : at::Tensor()};
}

BertForSequenceClassification::BertForSequenceClassification(const PretrainedConfig& config)
    : SequenceClassificationModel("BertForSequenceClassification", config, "bert"),
      classifier_dropout_(BertConfig(config).classifier_dropout),
      bert_(block("bert", std::make_shared<BertModel>(config))),
      classifier_(linear("classifier", BertConfig(config).hidden_size, config.num_labels())) {}

at::Tensor BertForSequenceClassification::classify(const ModelInputs& inputs) {
  return classifier_(dropout(bert_->forward(inputs).pooler_output, classifier_dropout_));
}

at::Tensor counted_positions(const at::Tensor& input_ids) {
  return at::arange(input_ids.size(1), input_ids.options().dtype(at::kLong)).unsqueeze(0);
}

}  // namespace transformers
