#pragma once

// Limits on gradients, with the results of Python's torch.nn.utils to the bit where not said otherwise.

#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/train/optimizer_sharding.h"

namespace accelerate::parallel {
class Replicas;
}

namespace accelerate::train {

/// Scales the gradients of `parameters` in place so that their norm, taken over all of them together, is at most
/// `max_norm`. Returns the norm before scaling, without waiting for the device. `norm_type` may be infinity. Gradients
/// under a GradScaler have to be unscaled first.
at::Tensor clip_grad_norm_(const std::vector<at::Tensor>& parameters, double max_norm, double norm_type = 2);

/// What ranks share with each other. The same on all of them.
struct ClippingRanks {
  std::vector<parallel::Replicas*> replicas = {};        // whose gradients are averaged over ranks
  std::vector<const OptimizerSharding*> shardings = {};  // that divide the step of some parameters
};

/// The same with the work divided among ranks; the norm differs by rounding. Where the squares of all gradients came
/// out of their reduction, nobody has to look at a gradient for the norm. Where not, each rank takes the norm of its
/// shares of those that `shardings` divide, and ranks tell each other these numbers. Each scales its shares only; those
/// of others, which it does not step, stay as they are. Collective.
at::Tensor clip_grad_norm_together_(const std::vector<at::Tensor>& parameters, double max_norm, double norm_type,
                                    const ClippingRanks& ranks);

/// Clamps the gradients of `parameters` in place to [-clip_value, clip_value]; of those that `shardings` divide, this
/// rank's share.
void clip_grad_value_(const std::vector<at::Tensor>& parameters, double clip_value,
                      const std::vector<const OptimizerSharding*>& shardings = {});

}  // namespace accelerate::train
