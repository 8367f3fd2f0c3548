#include "transformers/attention.h"

#include <cmath>
#include <limits>
#include <string>

#include <ATen/Dispatch.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/scalar_tensor.h>
#include <ATen/ops/scaled_dot_product_attention.h>
#include <ATen/ops/where.h>

#include "accelerate/base/error.h"

namespace transformers {

namespace {

/// [batch, 1, 1, length]: true if the key is not padding. Undefined if there is no padding.
at::Tensor padding_of(const at::Tensor& attention_mask) {
  if (!attention_mask.defined()) return {};
  auto visible = attention_mask.to(at::kBool);
  if (visible.all().item<bool>()) return {};
  return visible.unsqueeze(1).unsqueeze(1);
}

at::Tensor positions(const at::Tensor& embeddings) {
  return at::arange(embeddings.size(1), at::TensorOptions(at::kLong).device(embeddings.device()));
}

at::Tensor spread(const at::Tensor& mask, const at::Tensor& embeddings) {
  auto length = embeddings.size(1);
  return mask.expand({embeddings.size(0), 1, length, length});
}

/// Repeats the heads of keys or values, so that each head of the query has its own.
at::Tensor repeat_heads(const at::Tensor& x, int64_t times) {
  if (times == 1) return x;
  auto repeated = x.unsqueeze(2).expand({x.size(0), x.size(1), times, x.size(2), x.size(3)});
  return repeated.reshape({x.size(0), x.size(1) * times, x.size(2), x.size(3)});
}

}  // namespace

std::optional<std::vector<bool>> windowed_layers(const PretrainedConfig& config, int64_t num_layers) {
  auto types = config.find<std::vector<std::string>>("layer_types");
  if (!types) return std::nullopt;
  if (static_cast<int64_t>(types->size()) != num_layers) {
    accelerate::fail(config.source(), ": \"layer_types\" names ", types->size(),
                     " layers, but \"num_hidden_layers\" is ", num_layers, "; it must name one for each");
  }
  std::vector<bool> windowed;
  for (const auto& type : *types) windowed.push_back(type == "sliding_attention");
  return windowed;
}

at::Tensor split_heads(const at::Tensor& x, int64_t head_size) {
  return x.view({x.size(0), x.size(1), -1, head_size}).transpose(1, 2);
}

at::Tensor merge_heads(const at::Tensor& x) { return x.transpose(1, 2).contiguous().view({x.size(0), x.size(2), -1}); }

at::Tensor bidirectional_mask(const at::Tensor& attention_mask, const at::Tensor& embeddings) {
  auto mask = padding_of(attention_mask);
  return mask.defined() ? spread(mask, embeddings) : mask;
}

at::Tensor causal_mask(const at::Tensor& attention_mask, const at::Tensor& embeddings, int64_t window) {
  auto padding = padding_of(attention_mask);
  bool windowed = window > 0 && embeddings.size(1) >= window;
  if (!padding.defined() && !windowed) return {};
  auto keys = positions(embeddings), queries = keys.unsqueeze(1);
  auto mask = keys <= queries;
  if (windowed) mask = mask & (keys > queries - window);
  return spread(padding.defined() ? mask & padding : mask, embeddings);
}

at::Tensor sliding_window_mask(const at::Tensor& attention_mask, const at::Tensor& embeddings, int64_t reach) {
  auto padding = padding_of(attention_mask);
  bool windowed = embeddings.size(1) >= reach;
  if (!padding.defined() && !windowed) return {};
  auto keys = positions(embeddings), queries = keys.unsqueeze(1);
  auto mask = (keys - queries).abs() <= reach;
  return spread(padding.defined() ? mask & padding : mask, embeddings);
}

double lowest_score(at::ScalarType type) {
  return AT_DISPATCH_FLOATING_TYPES_AND2(at::kHalf, at::kBFloat16, type, "lowest_score",
                                         [] { return static_cast<double>(std::numeric_limits<scalar_t>::lowest()); });
}

at::Tensor added_mask(const at::Tensor& mask, at::ScalarType type) {
  if (!mask.defined()) return mask;
  auto options = mask.options().dtype(type);
  return at::where(mask, at::scalar_tensor(0, options), at::scalar_tensor(lowest_score(type), options));
}

at::Tensor attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor& mask,
                  AttentionOptions options) {
  auto queries_per_key = query.size(1) / key.size(1);
  // If possible, the kernel shares the heads itself. Python's Transformers uses this kernel in the same cases.
  bool shared = queries_per_key > 1 && !mask.defined() && key.size(-1) <= 256;
  auto repeat = shared ? 1 : queries_per_key;
  auto keys = repeat_heads(key, repeat), values = repeat_heads(value, repeat);
  if (options.causal && options.dropout > 0) {
    // The rounding of the kernel with dropout depends on the memory layout. Python's decoders pass keys and values
    // through a cache, which makes them contiguous.
    keys = keys.contiguous();
    values = values.contiguous();
  }
  bool causal = options.causal && !mask.defined() && query.size(2) > 1;
  auto context =
      at::scaled_dot_product_attention(query, keys, values, mask.defined() ? std::optional(mask) : std::nullopt,
                                       options.dropout, causal, options.scale, shared);
  return merge_heads(context);
}

at::Tensor self_attention(const at::Tensor& x, const Linear& query, const Linear& key, const Linear& value,
                          int64_t head_size, const at::Tensor& mask, double dropout) {
  // One statement each: the order of these operations determines the order in which gradients are summed, and so their
  // rounding.
  auto queries = split_heads(query->forward(x), head_size);
  auto keys = split_heads(key->forward(x), head_size);
  auto values = split_heads(value->forward(x), head_size);
  return attend(queries, keys, values, mask,
                {.dropout = dropout, .scale = std::pow(static_cast<double>(head_size), -0.5)});
}

}  // namespace transformers
