#pragma once

// Page-locked memory, from which copies to a GPU overlap with computation.

#include <ATen/core/Tensor.h>

namespace accelerate::data {

/// Whether a CUDA device is available.
bool can_pin_memory();

/// Returns a copy in page-locked memory.
at::Tensor pinned(const at::Tensor& tensor);

}  // namespace accelerate::data
