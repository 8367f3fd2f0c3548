#pragma once

// Trading time for memory: a function whose inner values are computed again in the backward pass.

#include <functional>
#include <vector>

#include <ATen/core/Tensor.h>

namespace transformers {

/// function(inputs), keeping only the inputs. The backward pass calls `function` again, with the random numbers and the
/// autocasting of the first time, so that dropout drops the same values and all has the same types. A tensor with a
/// gradient that `function` uses besides its inputs has to be a parameter; several calls may share it. Gradients have
/// the bits of the plain graph unless an input with several uses inside is used outside too: a call adds up its own
/// first.
at::Tensor gradient_checkpoint(const std::function<at::Tensor(const std::vector<at::Tensor>&)>& function,
                               const std::vector<at::Tensor>& inputs);

}  // namespace transformers
