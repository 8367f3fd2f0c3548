#pragma once

// Limits on gradients, with the results of Python's torch.nn.utils to the bit where not said otherwise.

#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/train/optimizer_sharding.h"

namespace accelerate::train {

/// Scales the gradients of `parameters` in place so that their norm, taken over all of them together, is at most
/// `max_norm`. Returns the norm before scaling, without waiting for the device. `norm_type` may be infinity. Gradients
/// under a GradScaler have to be unscaled first.
at::Tensor clip_grad_norm_(const std::vector<at::Tensor>& parameters, double max_norm, double norm_type = 2);

/// The same where `shardings` divide the step of some parameters among ranks: each rank takes the norm of its shares of
/// the gradients, ranks tell each other these numbers, and each scales its shares only; those of others, which it does
/// not step, stay as they are. Half the work on two ranks; the norm differs from clip_grad_norm_'s by rounding.
/// Collective. Gradients have to be averaged.
at::Tensor clip_grad_norm_of_shares_(const std::vector<at::Tensor>& parameters, double max_norm, double norm_type,
                                     const std::vector<const OptimizerSharding*>& shardings);

/// Clamps the gradients of `parameters` in place to [-clip_value, clip_value].
void clip_grad_value_(const std::vector<at::Tensor>& parameters, double clip_value);

}  // namespace accelerate::train
