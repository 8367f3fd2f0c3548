// GPT-2 (Radford et al., 2019): a decoder with a layer norm before each sub-layer and learnt positions.

#include <cmath>

#include "transformers/activations.h"
#include "transformers/attention.h"
#include "transformers/config_checks.h"
#include "transformers/heads.h"
#include "transformers/models/families.h"
#include "transformers/positions.h"

namespace transformers {

namespace {

/// The hyperparameters of GPT-2, which has its own names for them.
struct GPT2Config {
  int64_t vocab_size, n_positions, n_embd, n_layer, n_head, n_inner;
  double resid_pdrop, embd_pdrop, attn_pdrop, layer_norm_epsilon, initializer_range;
  bool scale_attn_weights, scale_attn_by_inverse_layer_idx;
  std::string activation_function;

  explicit GPT2Config(const PretrainedConfig& config);

  /// The standard deviation of new weights that add to the residual stream: smaller in deeper models.
  double residual_range() const;
};

/// Causal attention, with one projection for queries, keys and values.
class GPT2Attention : public Block {
 public:
  GPT2Attention(const GPT2Config& config, int64_t layer);
  at::Tensor forward(const at::Tensor& x, const at::Tensor& mask);
  void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) override;

 private:
  GPT2Config config_;
  double scale_;
  Conv1D query_key_value_, output_;
};

/// The feed-forward network.
class GPT2MLP : public Block {
 public:
  explicit GPT2MLP(const GPT2Config& config);
  at::Tensor forward(const at::Tensor& x);
  void initialize_again(const std::function<bool(const at::Tensor&)>& is_new) override;

 private:
  GPT2Config config_;
  Activation activation_;
  Conv1D inner_, output_;
};

/// Attention and the feed-forward network, each with a layer norm before it and a residual connection.
class GPT2Block : public Block {
 public:
  GPT2Block(const GPT2Config& config, int64_t layer);
  at::Tensor forward(at::Tensor x, const at::Tensor& mask);

 private:
  LayerNorm attention_norm_;
  std::shared_ptr<GPT2Attention> attention_;
  LayerNorm mlp_norm_;
  std::shared_ptr<GPT2MLP> mlp_;
};

/// The decoder.
class GPT2Model : public BaseModel {
 public:
  explicit GPT2Model(const PretrainedConfig& config);

  /// The token embeddings, which the language-model head shares.
  const Embedding& words() const { return words_; }

 private:
  BaseModelOutput encode(const ModelInputs& inputs) override;

  GPT2Config sizes_;
  Embedding words_, positions_;
  std::vector<std::shared_ptr<GPT2Block>> blocks_;
  LayerNorm norm_ = nullptr;
};

/// The decoder, and a linear classifier on the last token of each text.
class GPT2ForSequenceClassification : public DecoderForSequenceClassification {
 public:
  explicit GPT2ForSequenceClassification(const PretrainedConfig& config);
};

/// The decoder with a language-model head.
class GPT2LMHeadModel : public DecoderForCausalLM {
 public:
  explicit GPT2LMHeadModel(const PretrainedConfig& config);

 private:
  GPT2LMHeadModel(const PretrainedConfig& config, const std::shared_ptr<GPT2Model>& transformer);
};

GPT2Config::GPT2Config(const PretrainedConfig& config)
    : vocab_size(config.get<int64_t>("vocab_size", 50257)),
      n_positions(config.get<int64_t>("n_positions", 1024)),
      n_embd(config.get<int64_t>("n_embd", 768)),
      n_layer(config.get<int64_t>("n_layer", 12)),
      n_head(config.get<int64_t>("n_head", 12)),
      n_inner(config.get<int64_t>("n_inner", 4 * n_embd)),
      resid_pdrop(config.get("resid_pdrop", 0.1)),
      embd_pdrop(config.get("embd_pdrop", 0.1)),
      attn_pdrop(config.get("attn_pdrop", 0.1)),
      layer_norm_epsilon(config.get("layer_norm_epsilon", 1e-5)),
      initializer_range(config.get("initializer_range", 0.02)),
      scale_attn_weights(config.get("scale_attn_weights", true)),
      scale_attn_by_inverse_layer_idx(config.get("scale_attn_by_inverse_layer_idx", false)),
      activation_function(config.get<std::string>("activation_function", "gelu_new")) {
  check_heads(config, {"n_embd", n_embd}, {"n_head", n_head});
}

double GPT2Config::residual_range() const { return initializer_range / std::sqrt(2.0 * static_cast<double>(n_layer)); }

GPT2Attention::GPT2Attention(const GPT2Config& config, int64_t layer)
    : config_(config),
      scale_(config.scale_attn_weights ? std::pow(static_cast<double>(config.n_embd / config.n_head), -0.5) : 1),
      query_key_value_(conv1d("c_attn", config.n_embd, 3 * config.n_embd)),
      output_(conv1d("c_proj", config.n_embd, config.n_embd)) {
  if (config.scale_attn_by_inverse_layer_idx) scale_ /= static_cast<double>(layer + 1);
}

at::Tensor GPT2Attention::forward(const at::Tensor& x, const at::Tensor& mask) {
  auto head_size = config_.n_embd / config_.n_head;
  auto parts = query_key_value_(x).split(config_.n_embd, 2);
  auto context =
      attend(split_heads(parts[0], head_size), split_heads(parts[1], head_size), split_heads(parts[2], head_size), mask,
             {.dropout = is_training() ? config_.attn_pdrop : 0, .scale = scale_, .causal = true});
  return dropout(output_(context), config_.resid_pdrop);
}

void GPT2Attention::initialize_again(const std::function<bool(const at::Tensor&)>& is_new) {
  if (is_new(output_->weight)) output_->weight.normal_(0, config_.residual_range());
}

GPT2MLP::GPT2MLP(const GPT2Config& config)
    : config_(config),
      activation_(activation(config.activation_function)),
      inner_(conv1d("c_fc", config.n_embd, config.n_inner)),
      output_(conv1d("c_proj", config.n_inner, config.n_embd)) {}

at::Tensor GPT2MLP::forward(const at::Tensor& x) {
  return dropout(output_(activation_(inner_(x))), config_.resid_pdrop);
}

void GPT2MLP::initialize_again(const std::function<bool(const at::Tensor&)>& is_new) {
  if (is_new(output_->weight)) output_->weight.normal_(0, config_.residual_range());
}

GPT2Block::GPT2Block(const GPT2Config& config, int64_t layer)
    : attention_norm_(layer_norm("ln_1", config.n_embd, config.layer_norm_epsilon)),
      attention_(block("attn", std::make_shared<GPT2Attention>(config, layer))),
      mlp_norm_(layer_norm("ln_2", config.n_embd, config.layer_norm_epsilon)),
      mlp_(block("mlp", std::make_shared<GPT2MLP>(config))) {}

at::Tensor GPT2Block::forward(at::Tensor x, const at::Tensor& mask) {
  x = attention_->forward(attention_norm_(x), mask) + x;
  return x + mlp_->forward(mlp_norm_(x));
}

GPT2Model::GPT2Model(const PretrainedConfig& config)
    : BaseModel("GPT2Model", config, "transformer"),
      sizes_(config),
      words_(embedding("wte", sizes_.vocab_size, sizes_.n_embd)),
      positions_(embedding("wpe", sizes_.n_positions, sizes_.n_embd)) {
  for (int64_t i = 0; i < sizes_.n_layer; ++i) {
    blocks_.push_back(block("h." + std::to_string(i), std::make_shared<GPT2Block>(sizes_, i)));
  }
  norm_ = layer_norm("ln_f", sizes_.n_embd, sizes_.layer_norm_epsilon);
}

BaseModelOutput GPT2Model::encode(const ModelInputs& inputs) {
  check_inputs(inputs, sizes_.vocab_size, sizes_.n_positions);
  auto x = words_(inputs.input_ids);
  auto mask = causal_mask(inputs.attention_mask, x);
  x = x + positions_(positions_of(inputs));
  if (inputs.token_type_ids.defined()) x = x + words_(inputs.token_type_ids);
  x = dropout(x, sizes_.embd_pdrop);
  for (const auto& block : blocks_) {
    x = checkpointed(x, [&block = *block, mask](const at::Tensor& x) { return block.forward(x, mask); });
  }
  return {.last_hidden_state = norm_(x)};
}

GPT2ForSequenceClassification::GPT2ForSequenceClassification(const PretrainedConfig& config)
    : DecoderForSequenceClassification("GPT2ForSequenceClassification", config, "transformer",
                                       std::make_shared<GPT2Model>(config), GPT2Config(config).n_embd) {}

GPT2LMHeadModel::GPT2LMHeadModel(const PretrainedConfig& config)
    : GPT2LMHeadModel(config, std::make_shared<GPT2Model>(config)) {}

GPT2LMHeadModel::GPT2LMHeadModel(const PretrainedConfig& config, const std::shared_ptr<GPT2Model>& transformer)
    : DecoderForCausalLM("GPT2LMHeadModel", config, "transformer", transformer, transformer->words(),
                         config.get("tie_word_embeddings", true)) {}

}  // namespace

namespace models {

Architecture gpt2() {
  return {.model_type = "gpt2",
          .base = make<GPT2Model>(),
          .sequence_classification = make<GPT2ForSequenceClassification>(),
          .causal_lm = make<GPT2LMHeadModel>()};
}

}  // namespace models

}  // namespace transformers
