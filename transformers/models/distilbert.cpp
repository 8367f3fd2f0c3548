// DistilBERT (Sanh et al., 2019): half of BERT's layers, without segments and pooler.

#include <cmath>

#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/pow.h>
#include <ATen/ops/relu.h>

#include "transformers/activations.h"
#include "transformers/attention.h"
#include "transformers/config_checks.h"
#include "transformers/models/families.h"
#include "transformers/positions.h"
#include "transformers/pretrained_model.h"

namespace transformers {

namespace {

/// The hyperparameters of DistilBERT, which has its own names for them.
struct DistilBertConfig {
  int64_t vocab_size, max_position_embeddings, n_layers, n_heads, dim, hidden_dim, pad_token_id;
  double dropout, attention_dropout;
  std::string activation;
  bool sinusoidal_pos_embds;

  explicit DistilBertConfig(const PretrainedConfig& config);
};

/// The sum of token and position embeddings.
class DistilBertEmbeddings : public Block {
 public:
  explicit DistilBertEmbeddings(const DistilBertConfig& config);
  at::Tensor forward(const at::Tensor& input_ids, const at::Tensor& position_ids);
  void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) override;

 private:
  double dropout_;
  bool sinusoidal_;
  Embedding word_embeddings_, position_embeddings_;
  LayerNorm norm_;
};

/// Attention and a feed-forward network, each with a residual connection and a layer norm after it.
class DistilBertLayer : public Block {
 public:
  explicit DistilBertLayer(const DistilBertConfig& config);
  at::Tensor forward(at::Tensor x, const at::Tensor& mask);

 private:
  DistilBertConfig config_;
  Activation activation_;
  Linear query_, key_, value_, attention_output_;
  LayerNorm attention_norm_;
  Linear inner_, output_;
  LayerNorm output_norm_;
};

/// The encoder; without a pooler.
class DistilBertModel : public BaseModel {
 public:
  explicit DistilBertModel(const PretrainedConfig& config);
  const DistilBertConfig& sizes() const { return sizes_; }

 private:
  BaseModelOutput encode(const ModelInputs& inputs) override;

  DistilBertConfig sizes_;
  std::shared_ptr<DistilBertEmbeddings> embeddings_;
  std::vector<std::shared_ptr<DistilBertLayer>> layers_;
};

/// The encoder, and a classifier with one hidden layer on its first token.
class DistilBertForSequenceClassification : public SequenceClassificationModel {
 public:
  explicit DistilBertForSequenceClassification(const PretrainedConfig& config);

 private:
  at::Tensor classify(const ModelInputs& inputs) override;

  double dropout_;
  std::shared_ptr<DistilBertModel> distilbert_;
  Linear pre_classifier_, classifier_;
};

constexpr double kNormEps = 1e-12;

/// Sines in the even columns, cosines in the odd ones (Vaswani et al., 2017).
at::Tensor sinusoids(int64_t count, int64_t size) {
  auto position = at::arange(count, at::kDouble).unsqueeze(1);
  auto column = at::arange(0, size, 2, at::kDouble);
  auto angles = position / at::pow(10000, column / size);
  auto table = at::empty({count, size}, at::kDouble);
  table.slice(1, 0, size, 2).copy_(angles.sin());
  table.slice(1, 1, size, 2).copy_(angles.narrow(1, 0, size / 2).cos());
  return table;
}

DistilBertConfig::DistilBertConfig(const PretrainedConfig& config)
    : vocab_size(config.get<int64_t>("vocab_size", 30522)),
      max_position_embeddings(config.get<int64_t>("max_position_embeddings", 512)),
      n_layers(config.get<int64_t>("n_layers", 6)),
      n_heads(config.get<int64_t>("n_heads", 12)),
      dim(config.get<int64_t>("dim", 768)),
      hidden_dim(config.get<int64_t>("hidden_dim", 3072)),
      pad_token_id(config.get<int64_t>("pad_token_id", 0)),
      dropout(config.get("dropout", 0.1)),
      attention_dropout(config.get("attention_dropout", 0.1)),
      activation(config.get<std::string>("activation", "gelu")),
      sinusoidal_pos_embds(config.get("sinusoidal_pos_embds", false)) {
  check_heads(config, {"dim", dim}, {"n_heads", n_heads});
  check_padding(config, pad_token_id, vocab_size);
}

DistilBertEmbeddings::DistilBertEmbeddings(const DistilBertConfig& config)
    : dropout_(config.dropout),
      sinusoidal_(config.sinusoidal_pos_embds),
      word_embeddings_(embedding("word_embeddings", config.vocab_size, config.dim, config.pad_token_id)),
      position_embeddings_(embedding("position_embeddings", config.max_position_embeddings, config.dim)),
      norm_(layer_norm("LayerNorm", config.dim, kNormEps)) {}

at::Tensor DistilBertEmbeddings::forward(const at::Tensor& input_ids, const at::Tensor& position_ids) {
  auto words = word_embeddings_(input_ids);
  auto x = words + position_embeddings_(position_ids);
  return dropout(norm_(x), dropout_);
}

void DistilBertEmbeddings::initialize_again(const std::function<bool(const at::Tensor&)>& is_new) {
  auto& table = position_embeddings_->weight;
  if (sinusoidal_ && is_new(table)) table.copy_(sinusoids(table.size(0), table.size(1)));
}

DistilBertLayer::DistilBertLayer(const DistilBertConfig& config)
    : config_(config),
      activation_(activation(config.activation)),
      query_(linear("attention.q_lin", config.dim, config.dim)),
      key_(linear("attention.k_lin", config.dim, config.dim)),
      value_(linear("attention.v_lin", config.dim, config.dim)),
      attention_output_(linear("attention.out_lin", config.dim, config.dim)),
      attention_norm_(layer_norm("sa_layer_norm", config.dim, kNormEps)),
      inner_(linear("ffn.lin1", config.dim, config.hidden_dim)),
      output_(linear("ffn.lin2", config.hidden_dim, config.dim)),
      output_norm_(layer_norm("output_layer_norm", config.dim, kNormEps)) {}

at::Tensor DistilBertLayer::forward(at::Tensor x, const at::Tensor& mask) {
  auto context = self_attention(x, query_, key_, value_, config_.dim / config_.n_heads, mask,
                                is_training() ? config_.attention_dropout : 0);
  x = attention_norm_(attention_output_(context) + x);
  auto inner = activation_(inner_(x));
  return output_norm_(dropout(output_(inner), config_.dropout) + x);
}

DistilBertModel::DistilBertModel(const PretrainedConfig& config)
    : BaseModel("DistilBertModel", config, "distilbert"),
      sizes_(config),
      embeddings_(block("embeddings", std::make_shared<DistilBertEmbeddings>(sizes_))) {
  for (int64_t i = 0; i < sizes_.n_layers; ++i) {
    layers_.push_back(block("transformer.layer." + std::to_string(i), std::make_shared<DistilBertLayer>(sizes_)));
  }
}

BaseModelOutput DistilBertModel::encode(const ModelInputs& inputs) {
  check_inputs(inputs, sizes_.vocab_size, sizes_.max_position_embeddings);
  auto x = embeddings_->forward(inputs.input_ids, positions_of(inputs));
  auto mask = bidirectional_mask(inputs.attention_mask, x);
  for (const auto& layer : layers_) {
    x = checkpointed(x, [&layer = *layer, mask](const at::Tensor& x) { return layer.forward(x, mask); });
  }
  return {.last_hidden_state = x};
}

DistilBertForSequenceClassification::DistilBertForSequenceClassification(const PretrainedConfig& config)
    : SequenceClassificationModel("DistilBertForSequenceClassification", config, "distilbert"),
      dropout_(config.get("seq_classif_dropout", 0.2)),
      distilbert_(block("distilbert", std::make_shared<DistilBertModel>(config))),
      pre_classifier_(linear("pre_classifier", distilbert_->sizes().dim, distilbert_->sizes().dim)),
      classifier_(linear("classifier", distilbert_->sizes().dim, config.num_labels())) {}

at::Tensor DistilBertForSequenceClassification::classify(const ModelInputs& inputs) {
  auto first = distilbert_->forward(inputs).last_hidden_state.select(1, 0);
  return classifier_(dropout(at::relu(pre_classifier_(first)), dropout_));
}

}  // namespace

namespace models {

Architecture distilbert() {
  return {.model_type = "distilbert",
          .base = make<DistilBertModel>(),
          .sequence_classification = make<DistilBertForSequenceClassification>()};
}

}  // namespace models

}  // namespace transformers
