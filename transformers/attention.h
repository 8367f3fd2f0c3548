#pragma once

// The parts that all attention layers share: head splitting, masks and scaled dot-product attention.

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "transformers/layers.h"
#include "transformers/pretrained_config.h"

namespace transformers {

/// For each of `num_layers` layers, whether it uses sliding-window attention according to layer_types of the
/// configuration. Returns nullopt if the configuration has no such key. Throws Error if the key does not have
/// `num_layers` entries.
std::optional<std::vector<bool>> windowed_layers(const PretrainedConfig& config, int64_t num_layers);

/// Reshapes [batch, length, heads * size] to [batch, heads, length, size].
at::Tensor split_heads(const at::Tensor& x, int64_t head_size);

/// The inverse of split_heads.
at::Tensor merge_heads(const at::Tensor& x);

/// A boolean mask [batch, 1, length, length]: true if the query may attend to the key. `attention_mask` is [batch,
/// length] with 0 for padding. Returns an undefined tensor if nothing is masked, so that faster kernels can be used.
at::Tensor bidirectional_mask(const at::Tensor& attention_mask, const at::Tensor& embeddings);

/// A causal mask of the same form: a query attends to itself and to earlier positions. If `window` is not 0, it attends
/// to the last `window` positions only, itself included. Returns an undefined tensor if attend() with `causal` gives
/// the same result.
at::Tensor causal_mask(const at::Tensor& attention_mask, const at::Tensor& embeddings, int64_t window = 0);

/// A bidirectional mask of the same form in which a query attends to at most `reach` positions on each side.
at::Tensor sliding_window_mask(const at::Tensor& attention_mask, const at::Tensor& embeddings, int64_t reach);

/// The attention score of masked positions: the lowest finite value of a floating-point type.
double lowest_score(at::ScalarType type);

/// Converts a boolean mask to an additive one: 0 if the query may attend to the key, else lowest_score(type). Returns
/// an undefined tensor for an undefined one.
at::Tensor added_mask(const at::Tensor& mask, at::ScalarType type);

struct AttentionOptions {
  double dropout = 0;  // of the attention weights; pass 0 in evaluation mode
  double scale = 1;
  bool causal = false;  // ignored if there is a mask
};

/// Scaled dot-product attention, softmax(query · keyᵀ * scale) · value. The inputs are [batch, heads, length, size],
/// the result is [batch, length, heads * size]. Key and value may have fewer heads than the query (grouped-query
/// attention).
at::Tensor attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor& mask,
                  AttentionOptions options);

/// Bidirectional self-attention of x [batch, length, hidden], as in most encoders.
at::Tensor self_attention(const at::Tensor& x, const Linear& query, const Linear& key, const Linear& value,
                          int64_t head_size, const at::Tensor& mask, double dropout);

}  // namespace transformers
