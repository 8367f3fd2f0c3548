#pragma once

// Where each token stands in its text, and how far two tokens are apart, as the models count it.

#include "transformers/pretrained_model.h"

namespace transformers {

/// The inputs' position_ids; without them 0, 1, 2, ... [1, length].
at::Tensor positions_of(const ModelInputs& inputs);

/// The inputs' position_ids; without them each text's tokens from `padding` + 1 on, and `padding` itself for padding.
at::Tensor positions_after_padding(const ModelInputs& inputs, int64_t padding);

/// Which of 32 learnt distances lies between each query and key, [length, length]: one for each near position to either
/// side, from 8 on logarithmic up to 128 (Raffel et al., 2020).
at::Tensor distance_buckets(int64_t length, at::Device device);

/// How far each query stands behind each key, [length, length]. With `buckets` > 0 distances from half of that on are
/// logarithmic, such that `max_distance` - 1 gives the last bucket (He et al., 2020).
at::Tensor relative_positions(int64_t length, int64_t buckets, int64_t max_distance, at::Device device);

}  // namespace transformers
