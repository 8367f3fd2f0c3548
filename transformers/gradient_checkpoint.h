#pragma once

// Activation checkpointing (Chen et al., 2016): activations are recomputed in the backward pass, to save memory.

#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>

namespace transformers {

/// Returns function(inputs) and saves only the inputs for the backward pass, which calls `function` again. The second
/// call has the random state and the autocast settings of the first, so that dropout and dtypes are the same. Tensors
/// that `function` captures and that require a gradient must be leaves, such as parameters; several calls may share
/// them. Gradients are bitwise equal to those without checkpointing, with one exception: if an input is used several
/// times in `function` and also outside of it, its gradient is summed in another order.
at::Tensor gradient_checkpoint(const std::function<at::Tensor(const std::vector<at::Tensor>&)>& function,
                               const std::vector<at::Tensor>& inputs);

}  // namespace transformers
