#include "transformers/models/deberta_v2_attention.h"

#include <algorithm>
#include <cctype>
#include <cmath>

#include <ATen/ops/bmm.h>
#include <ATen/ops/gather.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/softmax.h>

#include "transformers/attention.h"

namespace transformers {

namespace {

BertConfig deberta_sizes(const PretrainedConfig& config) {
  auto sizes = BertConfig::from(config, {.vocab_size = 128100,
                                         .hidden_size = 1536,
                                         .num_hidden_layers = 24,
                                         .num_attention_heads = 24,
                                         .intermediate_size = 6144,
                                         .type_vocab_size = 0,
                                         .layer_norm_eps = 1e-7});
  config.read("embedding_size", sizes.embedding_size);
  return sizes;
}

/// The parts of "c2p|p2c", in lower case.
std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts(1);
  for (unsigned char c : text) {
    if (c == '|') {
      parts.emplace_back();
    } else if (!std::isspace(c)) {
      parts.back() += static_cast<char>(std::tolower(c));
    }
  }
  return parts;
}

bool has(const std::vector<std::string>& parts, const char* part) {
  return std::find(parts.begin(), parts.end(), part) != parts.end();
}

/// A list, or in older configurations a text.
std::vector<std::string> pos_att_type(const PretrainedConfig& config) {
  if (config.is_text("pos_att_type")) return split(config.get<std::string>("pos_att_type", ""));
  return config.get<std::vector<std::string>>("pos_att_type", {});
}

}  // namespace

DebertaV2Config::DebertaV2Config(const PretrainedConfig& config)
    : BertConfig(deberta_sizes(config)),
      attention_head_size(config.get("attention_head_size", head_size())),
      relative_attention(config.get("relative_attention", false)),
      share_att_key(config.get("share_att_key", false)),
      position_biased_input(config.get("position_biased_input", true)),
      content_to_position(has(pos_att_type(config), "c2p")),
      position_to_content(has(pos_att_type(config), "p2c")),
      position_buckets(config.get<int64_t>("position_buckets", -1)),
      max_relative_positions(config.get<int64_t>("max_relative_positions", -1)),
      conv_kernel_size(config.get<int64_t>("conv_kernel_size", 0)),
      conv_groups(config.positive("conv_groups", 1)),
      conv_act(config.get<std::string>("conv_act", "tanh")),
      normalize_distances(has(split(config.get<std::string>("norm_rel_ebd", "none")), "layer_norm")) {
  if (max_relative_positions < 1) max_relative_positions = max_position_embeddings;
  if (conv_kernel_size > 0 && hidden_size % conv_groups != 0) {
    config.refuse({{"hidden_size", hidden_size}, {"conv_groups", conv_groups}},
                  "the hidden size must be a multiple of the number of groups");
  }
  if (conv_kernel_size > 0 && conv_kernel_size % 2 == 0) {
    config.refuse({{"conv_kernel_size", conv_kernel_size}}, "it must be odd, or 0 for no convolution");
  }
  if (attention_head_size != head_size()) {
    config.refuse({{"attention_head_size", attention_head_size},
                   {"hidden_size", hidden_size},
                   {"num_attention_heads", num_attention_heads}},
                  "the total size of the heads must equal the hidden size");
  }
  if (position_buckets == 1) {
    config.refuse({{"position_buckets", position_buckets}}, "it must be at least 2, or -1 for none");
  }
}

DebertaV2Attention::DebertaV2Attention(const DebertaV2Config& config) : config_(config) {
  auto size = config.num_attention_heads * config.attention_head_size;
  query_ = linear("query_proj", config.hidden_size, size);
  key_ = linear("key_proj", config.hidden_size, size);
  value_ = linear("value_proj", config.hidden_size, size);
  if (!config.relative_attention) return;
  if (config.share_att_key) {
    position_key_ = key_;
    position_query_ = query_;
    return;
  }
  if (config.content_to_position) position_key_ = linear("pos_key_proj", config.hidden_size, size);
  if (config.position_to_content) position_query_ = linear("pos_query_proj", config.hidden_size, size);
}

/// [batch, length, heads * size] as [batch * heads, length, size].
at::Tensor DebertaV2Attention::heads(const at::Tensor& projected) const {
  return split_heads(projected, config_.attention_head_size)
      .contiguous()
      .view({-1, projected.size(1), config_.attention_head_size});
}

/// Content to position, and position to content.
at::Tensor DebertaV2Attention::position_scores(const at::Tensor& query, const at::Tensor& key,
                                               const at::Tensor& positions, const at::Tensor& distances,
                                               const at::Tensor& scale) {
  auto span = config_.distance_span();
  auto table = distances.narrow(0, 0, 2 * span).unsqueeze(0);
  auto texts = query.size(0) / config_.num_attention_heads, length = query.size(1);
  auto of_each_text = [&](const at::Tensor& projected) { return heads(projected).repeat({texts, 1, 1}); };
  auto rows = [&](const at::Tensor& positions) {
    return (positions + span).clamp(0, 2 * span - 1).expand({query.size(0), length, length});
  };
  at::Tensor scores;
  if (config_.content_to_position) {
    auto all = at::bmm(query, of_each_text(position_key_(table)).transpose(-1, -2));
    scores = at::gather(all, -1, rows(positions)) / scale;
  }
  if (config_.position_to_content) {
    auto all = at::bmm(key, of_each_text(position_query_(table)).transpose(-1, -2));
    auto chosen = at::gather(all, -1, rows(-positions)).transpose(-1, -2) / scale;
    scores = scores.defined() ? scores + chosen : chosen;
  }
  return scores;
}

at::Tensor DebertaV2Attention::forward(const at::Tensor& x, const DebertaV2Context& context, at::Tensor distances) {
  auto query = heads(query_(x));
  auto key = heads(key_(x));
  auto value = heads(value_(x));
  auto terms = 1 + int{config_.content_to_position} + int{config_.position_to_content};
  auto scale = at::scalar_tensor(std::sqrt(static_cast<double>(config_.attention_head_size * terms)), x.options());
  auto scores = at::bmm(query, key.transpose(-1, -2) / scale);
  if (config_.relative_attention) {
    distances = dropout(distances, config_.hidden_dropout_prob);
    auto more = position_scores(query, key, context.positions, distances, scale);
    if (more.defined()) scores = scores + more;
  }
  auto length = x.size(1);
  scores = scores.view({-1, config_.num_attention_heads, length, length});
  if (context.mask.defined()) scores = scores.masked_fill(~context.mask, lowest_score(scores.scalar_type()));
  auto weights = dropout(at::softmax(scores, -1), config_.attention_probs_dropout_prob);
  auto contexts = at::bmm(weights.view({-1, length, length}), value);
  return merge_heads(contexts.view({x.size(0), -1, length, config_.attention_head_size}));
}

}  // namespace transformers
