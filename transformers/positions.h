#pragma once

// Position ids and relative positions of tokens.

#include "transformers/pretrained_model.h"

namespace transformers {

/// `position_ids` of the inputs if defined, else 0, 1, 2, ... as [1, length].
at::Tensor positions_of(const ModelInputs& inputs);

/// `position_ids` of the inputs if defined. Else the tokens of each text are numbered from `padding` + 1, and padding
/// tokens get `padding` (as in RoBERTa).
at::Tensor positions_after_padding(const ModelInputs& inputs, int64_t padding);

/// The bucket, 0 to 31, of the relative position of each query and key, [length, length]. Each direction has 16
/// buckets: one for each distance below 8, then logarithmic ones up to 128 (Raffel et al., 2020).
at::Tensor distance_buckets(int64_t length, at::Device device);

/// The position of each query minus that of each key, [length, length]. If `buckets` > 0, distances above `buckets` / 2
/// are mapped to logarithmic buckets, such that `max_distance` - 1 is in the last one (He et al., 2020).
at::Tensor relative_positions(int64_t length, int64_t buckets, int64_t max_distance, at::Device device);

}  // namespace transformers
