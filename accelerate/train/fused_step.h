#pragma once

// Optimizer steps by libtorch's fused kernels: one call updates all parameters of a group, or this rank's shards of
// them.

#include <memory>

#include "accelerate/train/optimizer_step.h"

namespace accelerate::train {

/// Each supports exactly the torch class of its name. A parameter that the kernel cannot handle (sparse, complex, on a
/// device without a fused kernel, or with another layout than its gradient) is stepped by optimizer_rules.h.
std::unique_ptr<StepStrategy> make_fused_adam_step();
std::unique_ptr<StepStrategy> make_fused_adamw_step();
std::unique_ptr<StepStrategy> make_fused_sgd_step();

}  // namespace accelerate::train
