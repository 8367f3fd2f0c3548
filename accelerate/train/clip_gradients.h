#pragma once

// Limits on gradients, with the results of Python's torch.nn.utils to the bit.

#include <vector>

#include <ATen/core/Tensor.h>

namespace accelerate::train {

/// Scales the gradients of `parameters` in place so that their norm, taken over all of them together, is at most
/// `max_norm`. Returns the norm before scaling, without waiting for the device. `norm_type` may be infinity. Gradients
/// under a GradScaler have to be unscaled first.
at::Tensor clip_grad_norm_(const std::vector<at::Tensor>& parameters, double max_norm, double norm_type = 2);

/// Clamps the gradients of `parameters` in place to [-clip_value, clip_value].
void clip_grad_value_(const std::vector<at::Tensor>& parameters, double clip_value);

}  // namespace accelerate::train
