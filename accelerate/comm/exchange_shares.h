#pragma once

// Exchanges slices of tensors: each rank computes some slices, and all ranks get all of them (an uneven all-gather).

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"

namespace accelerate::comm {

/// A slice of one of several tensors, in elements.
struct Part {
  size_t tensor = 0;
  int64_t begin = 0;
  int64_t length = 0;
};

/// The slices that each rank computes, by rank. The same on all ranks.
using Shares = std::vector<std::vector<Part>>;

/// Calls `make` for each round: it computes this rank's slices of `tensors` and returns the slices of all ranks. In the
/// end all ranks have all slices. The tensors are contiguous and one-dimensional, with the same length on all ranks.
/// Collective. `what` appears in the error if a rank is missing.
///
/// On one machine it starts with a barrier, and several threads may call `make` at once. If the system allows it, each
/// rank writes its slices straight into the tensors of the others, while they are still in the cache. No other code may
/// use the tensors meanwhile.
void exchange_shares(const Group& group, const std::vector<at::Tensor>& tensors, size_t num_rounds,
                     const std::function<Shares(size_t round)>& make,
                     const std::string& what = "the exchange of shares");

}  // namespace accelerate::comm
