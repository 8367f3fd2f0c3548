#include "transformers/models/llama.h"

#include <cmath>

#include "transformers/attention.h"
#include "transformers/config_checks.h"
#include "transformers/models/families.h"
#include "transformers/positions.h"

namespace transformers {

LlamaConfig LlamaConfig::from(const PretrainedConfig& config, const LlamaConfig& defaults) {
  auto sizes = defaults;
  config.read("vocab_size", sizes.vocab_size);
  config.read("hidden_size", sizes.hidden_size);
  config.read("intermediate_size", sizes.intermediate_size);
  config.read("num_hidden_layers", sizes.num_hidden_layers);
  config.read("num_attention_heads", sizes.num_attention_heads);
  config.read("num_key_value_heads", sizes.num_key_value_heads);
  config.read("head_dim", sizes.head_dim);
  config.read("max_position_embeddings", sizes.max_position_embeddings);
  config.read("rms_norm_eps", sizes.rms_norm_eps);
  config.read("attention_dropout", sizes.attention_dropout);
  config.read("hidden_act", sizes.hidden_act);
  if (sizes.head_dim == 0) {
    check_heads(config, {"hidden_size", sizes.hidden_size}, {"num_attention_heads", sizes.num_attention_heads});
    sizes.head_dim = sizes.hidden_size / sizes.num_attention_heads;
  }
  if (sizes.num_key_value_heads == 0) sizes.num_key_value_heads = sizes.num_attention_heads;
  if (sizes.num_key_value_heads < 1 || sizes.num_attention_heads % sizes.num_key_value_heads != 0) {
    config.refuse(
        {{"num_attention_heads", sizes.num_attention_heads}, {"num_key_value_heads", sizes.num_key_value_heads}},
        "the number of attention heads must be a multiple of the number of key-value heads");
  }
  check_rotated_heads(config, sizes.head_dim, sizes.hidden_size, sizes.num_attention_heads);
  if (auto padding = config.find<int64_t>("pad_token_id")) check_padding(config, *padding, sizes.vocab_size);
  return sizes;
}

LlamaConfig LlamaConfig::from(const PretrainedConfig& config) {
  auto sizes = from(config, {});
  config.read("attention_bias", sizes.projection_bias);
  sizes.output_bias = sizes.projection_bias;
  config.read("mlp_bias", sizes.mlp_bias);
  return sizes;
}

LlamaLayer::LlamaLayer(const LlamaConfig& config)
    : config_(config),
      activation_(activation(config.hidden_act)),
      query_(linear("self_attn.q_proj", config.hidden_size, config.num_attention_heads * config.head_dim,
                    config.projection_bias)),
      key_(linear("self_attn.k_proj", config.hidden_size, config.num_key_value_heads * config.head_dim,
                  config.projection_bias)),
      value_(linear("self_attn.v_proj", config.hidden_size, config.num_key_value_heads * config.head_dim,
                    config.projection_bias)),
      attention_output_(linear("self_attn.o_proj", config.num_attention_heads * config.head_dim, config.hidden_size,
                               config.output_bias)) {
  if (config.normalize_heads) {
    query_norm_ = rms_norm("self_attn.q_norm", config.head_dim, config.rms_norm_eps);
    key_norm_ = rms_norm("self_attn.k_norm", config.head_dim, config.rms_norm_eps);
  }
  gate_ = linear("mlp.gate_proj", config.hidden_size, config.intermediate_size, config.mlp_bias);
  up_ = linear("mlp.up_proj", config.hidden_size, config.intermediate_size, config.mlp_bias);
  down_ = linear("mlp.down_proj", config.intermediate_size, config.hidden_size, config.mlp_bias);
  attention_norm_ = rms_norm("input_layernorm", config.hidden_size, config.rms_norm_eps);
  feed_forward_norm_ = rms_norm("post_attention_layernorm", config.hidden_size, config.rms_norm_eps);
}

at::Tensor LlamaLayer::heads(const at::Tensor& projected, RMSNorm& norm) const {
  if (!norm) return split_heads(projected, config_.head_dim);
  return norm(projected.view({projected.size(0), projected.size(1), -1, config_.head_dim})).transpose(1, 2);
}

at::Tensor LlamaLayer::attention(const at::Tensor& x, const at::Tensor& mask, const Rotation& rotation) {
  auto query = heads(query_(x), query_norm_);
  auto key = heads(key_(x), key_norm_);
  auto value = split_heads(value_(x), config_.head_dim);
  query = rotate(query, rotation);
  key = rotate(key, rotation);
  auto context = attend(query, key, value, mask,
                        {.dropout = is_training() ? config_.attention_dropout : 0,
                         .scale = std::pow(static_cast<double>(config_.head_dim), -0.5),
                         .causal = true});
  return attention_output_(context);
}

at::Tensor LlamaLayer::feed_forward(const at::Tensor& x) {
  auto gate = activation_(gate_(x));
  return down_(gate * up_(x));
}

at::Tensor LlamaLayer::forward(at::Tensor x, const at::Tensor& mask, const Rotation& rotation) {
  x = x + attention(attention_norm_(x), mask, rotation);
  return x + feed_forward(feed_forward_norm_(x));
}

LlamaModel::LlamaModel(const PretrainedConfig& config, const LlamaConfig& sizes)
    : BaseModel(sizes.family + "Model", config, "model"),
      sizes_(sizes),
      rotary_(config, sizes.head_dim, sizes.max_position_embeddings),
      words_(embedding("embed_tokens", sizes.vocab_size, sizes.hidden_size, config.find<int64_t>("pad_token_id"))) {
  for (int64_t i = 0; i < sizes.num_hidden_layers; ++i) {
    layers_.push_back(block("layers." + std::to_string(i), std::make_shared<LlamaLayer>(sizes)));
  }
  norm_ = rms_norm("norm", sizes.hidden_size, sizes.rms_norm_eps);
}

BaseModelOutput LlamaModel::encode(const ModelInputs& inputs) {
  check_inputs(inputs, sizes_.vocab_size, /*max_length=*/0);
  auto x = words_(inputs.input_ids);
  auto rotation = rotary_.rotation(positions_of(inputs), x);
  auto full_mask = causal_mask(inputs.attention_mask, x);
  auto window_mask = sizes_.sliding_window ? causal_mask(inputs.attention_mask, x, sizes_.sliding_window) : full_mask;
  for (size_t i = 0; i < layers_.size(); ++i) {
    auto mask = !sizes_.is_windowed.empty() && sizes_.is_windowed[i] ? window_mask : full_mask;
    x = checkpointed(
        x, [&layer = *layers_[i], mask, rotation](const at::Tensor& x) { return layer.forward(x, mask, rotation); });
  }
  return {.last_hidden_state = norm_(x)};
}

LlamaForSequenceClassification::LlamaForSequenceClassification(const PretrainedConfig& config, const LlamaConfig& sizes)
    : DecoderForSequenceClassification(sizes.family + "ForSequenceClassification", config, "model",
                                       std::make_shared<LlamaModel>(config, sizes), sizes.hidden_size) {}

LlamaForCausalLM::LlamaForCausalLM(const PretrainedConfig& config, const LlamaConfig& sizes)
    : LlamaForCausalLM(config, sizes, std::make_shared<LlamaModel>(config, sizes)) {}

LlamaForCausalLM::LlamaForCausalLM(const PretrainedConfig& config, const LlamaConfig& sizes,
                                   const std::shared_ptr<LlamaModel>& model)
    : DecoderForCausalLM(sizes.family + "ForCausalLM", config, "model", model, model->words(),
                         config.get("tie_word_embeddings", false)) {}

namespace models {

Architecture llama() {
  return {.model_type = "llama",
          .base = make<LlamaModel>(),
          .sequence_classification = make<LlamaForSequenceClassification>(),
          .causal_lm = make<LlamaForCausalLM>()};
}

}  // namespace models

}  // namespace transformers
