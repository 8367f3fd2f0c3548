#pragma once

// The shard of a tensor that each rank steps, and its division into rounds. Pure: every rank computes all shards.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "accelerate/tensors/element_range.h"

namespace accelerate::train {

/// The shard of `rank` among `size` ranks. The shards partition `num_elements`, and no shard is longer than the first.
/// Each begins at a multiple of 64 elements, a boundary that no vector instruction on the whole tensor crosses. A
/// sharded step is therefore bit-identical to a whole one.
tensors::ElementRange share_of(int64_t num_elements, int rank, int size);

/// A slice of the shards of one tensor, relative to the start of each rank's shard.
struct Portion {
  size_t tensor = 0;
  tensors::ElementRange stretch = {};

  bool operator==(const Portion&) const = default;
};

/// The shards of one tensor.
struct ShareSize {
  int64_t length = 0;  // of the longest shard
  int64_t element_bytes = 1;
};

/// Divides the shards of several tensors into rounds of about `max_bytes`. Slices begin at multiples of 64 elements
/// too.
std::vector<std::vector<Portion>> rounds_of(const std::vector<ShareSize>& sizes, int64_t max_bytes);

}  // namespace accelerate::train
