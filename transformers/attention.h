#pragma once

// What all attention layers share: heads, masks and the dot product itself.

#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "transformers/layers.h"
#include "transformers/pretrained_config.h"

namespace transformers {

/// Which of `num_layers` layers look at a window alone, by the configuration's layer_types; nothing without that key.
/// Throws Error when it names another number of layers.
std::optional<std::vector<bool>> windowed_layers(const PretrainedConfig& config, int64_t num_layers);

/// [batch, length, heads * size] as [batch, heads, length, size].
at::Tensor split_heads(const at::Tensor& x, int64_t head_size);

/// The other way round.
at::Tensor merge_heads(const at::Tensor& x);

/// Which keys each query may look at, [batch, 1, length, length], from `attention_mask` [batch, length] with 0 for
/// padding. Undefined when all may be looked at, which lets faster kernels run.
at::Tensor bidirectional_mask(const at::Tensor& attention_mask, const at::Tensor& embeddings);

/// The same where a query sees itself and what is before it, of that only the last `window` positions when it is not 0.
/// Undefined when attend(..., causal = true) does the same.
at::Tensor causal_mask(const at::Tensor& attention_mask, const at::Tensor& embeddings, int64_t window = 0);

/// The same where a query sees at most `reach` positions to each side.
at::Tensor sliding_window_mask(const at::Tensor& attention_mask, const at::Tensor& embeddings, int64_t reach);

/// The score of what must not be looked at: the smallest finite number of a floating type.
double lowest_score(at::ScalarType type);

/// A mask to be added to scores: 0 where a key may be looked at, elsewhere the lowest score. Undefined for an undefined
/// one.
at::Tensor added_mask(const at::Tensor& mask, at::ScalarType type);

struct AttentionOptions {
  double dropout = 0;  // of the attention's weights; give 0 in evaluation
  double scale = 1;
  bool causal = false;  // only where there is no mask
};

/// softmax(query · keyᵀ * scale) · value of [batch, heads, length, size]; one head of key and value may serve several
/// of the query.
at::Tensor attend(const at::Tensor& query, const at::Tensor& key, const at::Tensor& value, const at::Tensor& mask,
                  AttentionOptions options);

/// attend() of x [batch, length, hidden] to itself, as most encoders do it.
at::Tensor self_attention(const at::Tensor& x, const Linear& query, const Linear& key, const Linear& value,
                          int64_t head_size, const at::Tensor& mask, double dropout);

}  // namespace transformers
