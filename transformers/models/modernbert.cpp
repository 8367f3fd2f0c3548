// ModernBERT (Warner et al., 2024): an encoder with rotary positions, gated feed-forward networks, no biases, and local
// attention in most layers.

#include <cmath>
#include <vector>

#include <ATen/ops/ones_like.h>

#include "transformers/activations.h"
#include "transformers/attention.h"
#include "transformers/config_checks.h"
#include "transformers/models/families.h"
#include "transformers/positions.h"
#include "transformers/pretrained_model.h"
#include "transformers/rotary.h"

namespace transformers {

namespace {

/// The hyperparameters of ModernBERT.
struct ModernBertConfig {
  int64_t vocab_size, hidden_size, intermediate_size, num_hidden_layers, num_attention_heads, pad_token_id;
  int64_t max_position_embeddings;
  int64_t local_attention;  // how many tokens a local layer sees, half of them to each side
  double norm_eps, attention_dropout, embedding_dropout, mlp_dropout, classifier_dropout;
  bool norm_bias, attention_bias, mlp_bias, classifier_bias;
  std::string hidden_activation, classifier_activation, classifier_pooling;
  double initializer_range, initializer_cutoff_factor;
  std::vector<bool> is_local;  // by layer

  explicit ModernBertConfig(const PretrainedConfig& config);

  int64_t head_size() const { return hidden_size / num_attention_heads; }

  /// The standard deviation of new weights that add to the residual stream: smaller in deeper models.
  double residual_range() const;
};

/// Token embeddings only: positions are applied in attention.
class ModernBertEmbeddings : public Block {
 public:
  explicit ModernBertEmbeddings(const ModernBertConfig& config);
  at::Tensor forward(const at::Tensor& input_ids);
  void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) override;

 private:
  ModernBertConfig config_;
  Embedding words_;
  LayerNorm norm_;
};

/// Attention with rotated queries and keys, and one projection for these and the values.
class ModernBertAttention : public Block {
 public:
  explicit ModernBertAttention(const ModernBertConfig& config);
  at::Tensor forward(const at::Tensor& x, const at::Tensor& mask, const Rotation& rotation);
  void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) override;

 private:
  ModernBertConfig config_;
  Linear query_key_value_, output_;
};

/// The gated feed-forward network.
class ModernBertMLP : public Block {
 public:
  explicit ModernBertMLP(const ModernBertConfig& config);
  at::Tensor forward(const at::Tensor& x);
  void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) override;

 private:
  ModernBertConfig config_;
  Activation activation_;
  Linear inner_, output_;
};

/// Attention and a feed-forward network, each with a layer norm before it and a residual connection.
class ModernBertLayer : public Block {
 public:
  /// The first layer has no norm before attention: the embeddings are normalised already.
  ModernBertLayer(const ModernBertConfig& config, bool is_first);
  at::Tensor forward(at::Tensor x, const at::Tensor& mask, const Rotation& rotation);

 private:
  LayerNorm attention_norm_ = nullptr;
  std::shared_ptr<ModernBertAttention> attention_;
  LayerNorm mlp_norm_ = nullptr;
  std::shared_ptr<ModernBertMLP> mlp_;
};

/// The encoder; without a pooler.
class ModernBertModel : public BaseModel {
 public:
  explicit ModernBertModel(const PretrainedConfig& config);

 private:
  BaseModelOutput encode(const ModelInputs& inputs) override;

  ModernBertConfig sizes_;
  RotaryEmbedding global_rotary_, local_rotary_;
  std::shared_ptr<ModernBertEmbeddings> embeddings_;
  std::vector<std::shared_ptr<ModernBertLayer>> layers_;
  LayerNorm norm_ = nullptr;
};

/// The prediction head: dense layer, activation and layer norm.
class ModernBertPredictionHead : public Block {
 public:
  explicit ModernBertPredictionHead(const ModernBertConfig& config);
  at::Tensor forward(const at::Tensor& x);
  void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) override;

 private:
  ModernBertConfig config_;
  Activation activation_;
  Linear dense_;
  LayerNorm norm_;
};

/// The encoder, and a head and a linear classifier on the first token or on the mean of all.
class ModernBertForSequenceClassification : public SequenceClassificationModel {
 public:
  explicit ModernBertForSequenceClassification(const PretrainedConfig& config);
  void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) override;

 private:
  at::Tensor classify(const ModelInputs& inputs) override;

  ModernBertConfig sizes_;
  std::shared_ptr<ModernBertModel> model_;
  std::shared_ptr<ModernBertPredictionHead> head_;
  Linear classifier_;
};

std::vector<bool> local_layers(const PretrainedConfig& config, int64_t count) {
  if (auto named = windowed_layers(config, count)) return *named;
  auto global_every = config.positive("global_attn_every_n_layers", 3);
  std::vector<bool> is_local;
  for (int64_t i = 0; i < count; ++i) is_local.push_back(i % global_every != 0);
  return is_local;
}

void draw(const Linear& layer, double range, const ModernBertConfig& config,
          const std::function<bool(const at::Tensor&)>& is_new) {
  auto weight = layer->weight;
  if (is_new(weight)) truncated_normal_(weight, range, config.initializer_cutoff_factor);
}

ModernBertConfig::ModernBertConfig(const PretrainedConfig& config)
    : vocab_size(config.get<int64_t>("vocab_size", 50368)),
      hidden_size(config.get<int64_t>("hidden_size", 768)),
      intermediate_size(config.get<int64_t>("intermediate_size", 1152)),
      num_hidden_layers(config.positive("num_hidden_layers", 22)),
      num_attention_heads(config.get<int64_t>("num_attention_heads", 12)),
      pad_token_id(config.get<int64_t>("pad_token_id", 50283)),
      max_position_embeddings(config.get<int64_t>("max_position_embeddings", 8192)),
      local_attention(config.get<int64_t>("local_attention", 128)),
      norm_eps(config.get("norm_eps", 1e-5)),
      attention_dropout(config.get("attention_dropout", 0.0)),
      embedding_dropout(config.get("embedding_dropout", 0.0)),
      mlp_dropout(config.get("mlp_dropout", 0.0)),
      classifier_dropout(config.get("classifier_dropout", 0.0)),
      norm_bias(config.get("norm_bias", false)),
      attention_bias(config.get("attention_bias", false)),
      mlp_bias(config.get("mlp_bias", false)),
      classifier_bias(config.get("classifier_bias", false)),
      hidden_activation(config.get<std::string>("hidden_activation", "gelu")),
      classifier_activation(config.get<std::string>("classifier_activation", "gelu")),
      classifier_pooling(config.get<std::string>("classifier_pooling", "cls")),
      initializer_range(config.get("initializer_range", 0.02)),
      initializer_cutoff_factor(config.get("initializer_cutoff_factor", 2.0)),
      is_local(local_layers(config, num_hidden_layers)) {
  check_heads(config, {"hidden_size", hidden_size}, {"num_attention_heads", num_attention_heads});
  check_rotated_heads(config, head_size(), hidden_size, num_attention_heads);
  check_padding(config, pad_token_id, vocab_size);
}

double ModernBertConfig::residual_range() const {
  return initializer_range / std::sqrt(2.0 * static_cast<double>(num_hidden_layers));
}

ModernBertEmbeddings::ModernBertEmbeddings(const ModernBertConfig& config)
    : config_(config),
      words_(embedding("tok_embeddings", config.vocab_size, config.hidden_size, config.pad_token_id)),
      norm_(layer_norm("norm", config.hidden_size, config.norm_eps, config.norm_bias)) {}

at::Tensor ModernBertEmbeddings::forward(const at::Tensor& input_ids) {
  return dropout(norm_(words_(input_ids)), config_.embedding_dropout);
}

void ModernBertEmbeddings::initialize_again(const std::function<bool(const at::Tensor&)>& is_new) {
  if (is_new(words_->weight)) {
    truncated_normal_(words_->weight, config_.initializer_range, config_.initializer_cutoff_factor);
  }
}

ModernBertAttention::ModernBertAttention(const ModernBertConfig& config)
    : config_(config),
      query_key_value_(linear("Wqkv", config.hidden_size, 3 * config.hidden_size, config.attention_bias)),
      output_(linear("Wo", config.hidden_size, config.hidden_size, config.attention_bias)) {}

at::Tensor ModernBertAttention::forward(const at::Tensor& x, const at::Tensor& mask, const Rotation& rotation) {
  auto head_size = config_.head_size();
  auto parts = query_key_value_(x).view({x.size(0), x.size(1), 3, -1, head_size}).unbind(2);
  auto query = rotate(parts[0].transpose(1, 2), rotation, at::kFloat);
  auto key = rotate(parts[1].transpose(1, 2), rotation, at::kFloat);
  auto context = attend(query, key, parts[2].transpose(1, 2), mask,
                        {.dropout = is_training() ? config_.attention_dropout : 0,
                         .scale = std::pow(static_cast<double>(head_size), -0.5)});
  return dropout(output_(context), config_.attention_dropout);
}

void ModernBertAttention::initialize_again(const std::function<bool(const at::Tensor&)>& is_new) {
  draw(query_key_value_, config_.initializer_range, config_, is_new);
  draw(output_, config_.residual_range(), config_, is_new);
}

ModernBertMLP::ModernBertMLP(const ModernBertConfig& config)
    : config_(config),
      activation_(activation(config.hidden_activation)),
      inner_(linear("Wi", config.hidden_size, 2 * config.intermediate_size, config.mlp_bias)),
      output_(linear("Wo", config.intermediate_size, config.hidden_size, config.mlp_bias)) {}

at::Tensor ModernBertMLP::forward(const at::Tensor& x) {
  auto halves = inner_(x).chunk(2, -1);
  return output_(dropout(activation_(halves[0]) * halves[1], config_.mlp_dropout));
}

void ModernBertMLP::initialize_again(const std::function<bool(const at::Tensor&)>& is_new) {
  draw(inner_, config_.initializer_range, config_, is_new);
  draw(output_, config_.residual_range(), config_, is_new);
}

ModernBertLayer::ModernBertLayer(const ModernBertConfig& config, bool is_first) {
  if (!is_first) attention_norm_ = layer_norm("attn_norm", config.hidden_size, config.norm_eps, config.norm_bias);
  attention_ = block("attn", std::make_shared<ModernBertAttention>(config));
  mlp_norm_ = layer_norm("mlp_norm", config.hidden_size, config.norm_eps, config.norm_bias);
  mlp_ = block("mlp", std::make_shared<ModernBertMLP>(config));
}

at::Tensor ModernBertLayer::forward(at::Tensor x, const at::Tensor& mask, const Rotation& rotation) {
  x = x + attention_->forward(attention_norm_ ? attention_norm_(x) : x, mask, rotation);
  return x + mlp_->forward(mlp_norm_(x));
}

ModernBertModel::ModernBertModel(const PretrainedConfig& config)
    : BaseModel("ModernBertModel", config, "model"),
      sizes_(config),
      global_rotary_(config, sizes_.head_size(),
                     {.sections = {"rope_scaling", "rope_parameters.full_attention"},
                      .theta = config.get("global_rope_theta", 160000.0),
                      .max_length = sizes_.max_position_embeddings}),
      local_rotary_(config, sizes_.head_size(),
                    {.sections = {"rope_scaling", "rope_parameters.sliding_attention"},
                     .theta = config.get("local_rope_theta", 10000.0),
                     .max_length = sizes_.max_position_embeddings}),
      embeddings_(block("embeddings", std::make_shared<ModernBertEmbeddings>(sizes_))) {
  for (int64_t i = 0; i < sizes_.num_hidden_layers; ++i) {
    layers_.push_back(block("layers." + std::to_string(i), std::make_shared<ModernBertLayer>(sizes_, i == 0)));
  }
  norm_ = layer_norm("final_norm", sizes_.hidden_size, sizes_.norm_eps, sizes_.norm_bias);
}

BaseModelOutput ModernBertModel::encode(const ModelInputs& inputs) {
  check_inputs(inputs, sizes_.vocab_size, /*max_length=*/0);
  auto x = embeddings_->forward(inputs.input_ids);
  auto positions = positions_of(inputs);
  auto global_rotation = global_rotary_.rotation(positions, x), local_rotation = local_rotary_.rotation(positions, x);
  auto global_mask = bidirectional_mask(inputs.attention_mask, x);
  auto local_mask = sliding_window_mask(inputs.attention_mask, x, sizes_.local_attention / 2);
  for (size_t i = 0; i < layers_.size(); ++i) {
    auto mask = sizes_.is_local[i] ? local_mask : global_mask;
    auto rotation = sizes_.is_local[i] ? local_rotation : global_rotation;
    x = checkpointed(
        x, [&layer = *layers_[i], mask, rotation](const at::Tensor& x) { return layer.forward(x, mask, rotation); });
  }
  return {.last_hidden_state = norm_(x)};
}

ModernBertPredictionHead::ModernBertPredictionHead(const ModernBertConfig& config)
    : config_(config),
      activation_(activation(config.classifier_activation)),
      dense_(linear("dense", config.hidden_size, config.hidden_size, config.classifier_bias)),
      norm_(layer_norm("norm", config.hidden_size, config.norm_eps, config.norm_bias)) {}

at::Tensor ModernBertPredictionHead::forward(const at::Tensor& x) { return norm_(activation_(dense_(x))); }

void ModernBertPredictionHead::initialize_again(const std::function<bool(const at::Tensor&)>& is_new) {
  draw(dense_, config_.residual_range(), config_, is_new);
}

ModernBertForSequenceClassification::ModernBertForSequenceClassification(const PretrainedConfig& config)
    : SequenceClassificationModel("ModernBertForSequenceClassification", config, "model"),
      sizes_(config),
      model_(block("model", std::make_shared<ModernBertModel>(config))),
      head_(block("head", std::make_shared<ModernBertPredictionHead>(sizes_))),
      classifier_(linear("classifier", sizes_.hidden_size, config.num_labels())) {}

at::Tensor ModernBertForSequenceClassification::classify(const ModelInputs& inputs) {
  auto x = model_->forward(inputs).last_hidden_state;
  if (sizes_.classifier_pooling == "cls") {
    x = x.select(1, 0);
  } else {
    auto mask = inputs.attention_mask.defined() ? inputs.attention_mask : at::ones_like(inputs.input_ids);
    x = (x * mask.unsqueeze(-1)).sum(1) / mask.sum(1, /*keepdim=*/true);
  }
  return classifier_(dropout(head_->forward(x), sizes_.classifier_dropout));
}

void ModernBertForSequenceClassification::initialize_again(const std::function<bool(const at::Tensor&)>& is_new) {
  draw(classifier_, std::pow(static_cast<double>(sizes_.hidden_size), -0.5), sizes_, is_new);
}

}  // namespace

namespace models {

Architecture modernbert() {
  return {.model_type = "modernbert",
          .base = make<ModernBertModel>(),
          .sequence_classification = make<ModernBertForSequenceClassification>()};
}

}  // namespace models

}  // namespace transformers
