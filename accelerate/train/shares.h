#pragma once

// Which elements of a tensor each rank steps, and in what portions. Pure arithmetic: every rank knows every other's.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "accelerate/tensors/element_range.h"

namespace accelerate::train {

/// What `rank` of `size` has of `num_elements`: together everything, and the first rank's is as long as any. Each
/// begins at a multiple of 64 elements, where no vector instruction on the whole tensor would reach across: so a step
/// of the shares has the bits of a step of the whole.
tensors::ElementRange share_of(int64_t num_elements, int rank, int size);

/// A stretch of the shares of one tensor, counted from the start of each rank's.
struct Portion {
  size_t tensor = 0;
  tensors::ElementRange stretch = {};

  bool operator==(const Portion&) const = default;
};

/// The shares of one tensor.
struct ShareSize {
  int64_t length = 0;  // of the longest
  int64_t element_bytes = 1;
};

/// Goes through the shares of several tensors in rounds of about `max_bytes`, which also begin at multiples of 64
/// elements.
std::vector<std::vector<Portion>> rounds_of(const std::vector<ShareSize>& sizes, int64_t max_bytes);

}  // namespace accelerate::train
