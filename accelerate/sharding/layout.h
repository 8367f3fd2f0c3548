#pragma once

// How a tensor is divided into shards, and the plan of rounds in which ranks compute and exchange them. Pure: every
// rank computes the layout of all.

#include <cstdint>
#include <vector>

#include "accelerate/base/slice.h"

namespace accelerate::sharding {

/// Divides `num_elements` among `size` ranks. Each shard begins at a multiple of 64 elements, a boundary that no vector
/// instruction on the whole tensor crosses. A sharded step is therefore bit-identical to a whole one.
ShardLayout layout_of(int64_t num_elements, int64_t element_bytes, int size);

/// The shard of `rank` among `size` ranks. The shards partition `num_elements`, and no shard is longer than the first.
Slice shard_of(int64_t num_elements, int rank, int size);

/// Divides the shards of several tensors into rounds of about `max_bytes`. Slices begin at multiples of 64 elements
/// too.
SlicePlan plan_rounds(std::vector<ShardLayout> tensors, int64_t max_bytes);

/// One round with all shards of all tensors.
SlicePlan plan_one_round(std::vector<ShardLayout> tensors);

}  // namespace accelerate::sharding
