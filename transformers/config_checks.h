#pragma once

// Checks of relations between values of a config.json, shared by several models.

#include <cstdint>

#include "transformers/pretrained_config.h"

namespace transformers {

/// Throws Error unless the number of heads divides the hidden size.
void check_heads(const PretrainedConfig& config, ConfigValue hidden_size, ConfigValue heads);

/// Throws Error unless `head_dim` is even, because the features of a head are rotated in pairs.
void check_rotated_heads(const PretrainedConfig& config, int64_t head_dim, int64_t hidden_size, int64_t heads);

/// Throws Error unless the padding id is in the vocabulary. As in Python, a negative id counts from the end.
void check_padding(const PretrainedConfig& config, int64_t pad_token_id, int64_t vocab_size);

}  // namespace transformers
