#pragma once

// Gradient clipping, bit-identical to Python's torch.nn.utils unless stated otherwise.

#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/sharding/optimizer_sharding.h"

namespace accelerate::parallel {
class DistributedModel;
}

namespace accelerate::train {

/// Scales the gradients of `parameters` in place so that their total norm is at most `max_norm`. Returns the norm
/// before scaling, without synchronizing with the device. `norm_type` may be infinity. Gradients under a GradScaler
/// must be unscaled first.
at::Tensor clip_grad_norm_(const std::vector<at::Tensor>& parameters, double max_norm, double norm_type = 2);

/// How ranks divide the work of clipping. The same on all ranks.
struct ClippingRanks {
  std::vector<parallel::DistributedModel*> models = {};            // average gradients over ranks
  std::vector<const sharding::OptimizerSharding*> shardings = {};  // divide the step of parameters among ranks
};

/// The same with the work divided among ranks; the norm differs by rounding. If the all-reduces of all gradients
/// computed their sums of squares, no gradient is read for the norm. Otherwise each rank computes the norm of its
/// shards, and ranks all-gather these norms. Each rank scales its own shards only; it does not step the others.
/// Collective.
at::Tensor clip_grad_norm_together_(const std::vector<at::Tensor>& parameters, double max_norm, double norm_type,
                                    const ClippingRanks& ranks);

/// Clamps the gradients of `parameters` in place to [-clip_value, clip_value]. Of gradients that `shardings` divide,
/// clamps this rank's shard.
void clip_grad_value_(const std::vector<at::Tensor>& parameters, double clip_value,
                      const std::vector<const sharding::OptimizerSharding*>& shardings = {});

}  // namespace accelerate::train
