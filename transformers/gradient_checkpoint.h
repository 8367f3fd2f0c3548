#pragma once

// Trading time for memory: a function whose inner values are computed again in the backward pass.

#include <functional>

#include <ATen/core/Tensor.h>

namespace transformers {

/// function(x), keeping only x. The backward pass calls `function` again, with the random numbers of the first time, so
/// that dropout drops the same values.
at::Tensor gradient_checkpoint(const std::function<at::Tensor(const at::Tensor&)>& function, const at::Tensor& x);

}  // namespace transformers
