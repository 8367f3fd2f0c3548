#pragma once

// The tensors in the state of torch's optimizers.

#include <functional>

#include <ATen/core/Tensor.h>

namespace torch::optim {
class Optimizer;
class OptimizerParamState;
}  // namespace torch::optim

namespace accelerate::train {

/// Calls `visit` for every defined tensor of one parameter's state. Supports the optimizers of libtorch; ignores the
/// state of custom classes.
void for_each_state_tensor(torch::optim::OptimizerParamState& state, const std::function<void(at::Tensor&)>& visit);

/// Moves the state of each parameter to the parameter's device, for an optimizer that was built before its model moved.
void move_state_to_parameters(torch::optim::Optimizer& optimizer);

}  // namespace accelerate::train
