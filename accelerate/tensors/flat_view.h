#pragma once

// A tensor as its memory has it.

#include <ATen/core/Tensor.h>

namespace accelerate::tensors {

/// The elements of a dense tensor in the order of its memory, in one dimension.
inline at::Tensor flat_view(const at::Tensor& tensor) { return tensor.as_strided({tensor.numel()}, {1}); }

}  // namespace accelerate::tensors
