#pragma once

// Steps that update all parameters of a group in one call of libtorch's fused kernels, or each rank its share of them.

#include <memory>

#include "accelerate/train/optimizer_step.h"

namespace accelerate::train {

/// Each is for the torch class of its name alone. A parameter that the kernel cannot take (sparse or complex, on a
/// device without a fused kernel, or laid out otherwise than its gradient) follows optimizer_rules.h instead.
std::unique_ptr<StepStrategy> make_fused_adam_step();
std::unique_ptr<StepStrategy> make_fused_adamw_step();
std::unique_ptr<StepStrategy> make_fused_sgd_step();

}  // namespace accelerate::train
