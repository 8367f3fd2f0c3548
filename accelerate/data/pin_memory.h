#pragma once

// Page-locked memory, from which copies to a GPU run beside the computation.

#include <ATen/core/Tensor.h>

namespace accelerate::data {

/// Whether there is a GPU to copy to.
bool can_pin_memory();

/// A copy in page-locked memory.
at::Tensor pinned(const at::Tensor& tensor);

}  // namespace accelerate::data
