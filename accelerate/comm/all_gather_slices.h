#pragma once

// An uneven all-gather: each rank computes slices of tensors, and all ranks get all of them.

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/base/slice.h"
#include "accelerate/comm/group.h"

namespace accelerate::comm {

/// Calls `compute` for each round of `plan`; it computes this rank's slices of `tensors`. In the end all ranks have all
/// slices. The tensors are contiguous and one-dimensional, with the same length on all ranks. Collective. `what`
/// appears in the error if a rank is missing.
///
/// On one machine it starts with a barrier, and several threads may call `compute` at once. If the system allows it,
/// each rank writes its slices directly into the tensors of the others, while they are still in the cache. No other
/// code may use the tensors meanwhile.
void all_gather_slices(const Group& group, const std::vector<at::Tensor>& tensors, const SlicePlan& plan,
                       const std::function<void(size_t round)>& compute,
                       const std::string& what = "the all-gather of slices");

}  // namespace accelerate::comm
