#pragma once

// One-dimensional views of dense tensors.

#include <ATen/core/Tensor.h>

namespace accelerate::tensors {

/// Returns a one-dimensional view of a dense tensor, in memory order.
inline at::Tensor flat_view(const at::Tensor& tensor) { return tensor.as_strided({tensor.numel()}, {1}); }

}  // namespace accelerate::tensors
