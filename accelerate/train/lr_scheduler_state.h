#pragma once

// What libtorch's learning-rate schedulers do not show: their state under the keys of Python's, and whose rates they
// set. All that changes in them is a count; the learning rates belong to the optimizer, and are part of its state.

#include <vector>

#include <torch/optim/schedulers/lr_scheduler.h>

#include "accelerate/tensors/torch_file.h"

namespace accelerate::train {

/// {"last_epoch": ..., "_step_count": ..., "_last_lr": ...}.
tensors::TorchValue lr_scheduler_state_dict(const torch::optim::LRScheduler& scheduler);

/// Goes on from `state`. Throws Error, and changes nothing, when it is not the state of such a scheduler.
void load_lr_scheduler_state(torch::optim::LRScheduler& scheduler, const tensors::TorchValue& state);

/// Lets a torch::optim::StepLR that has not been stepped take the step that Python's takes in its constructor. Without
/// it libtorch's decays one step later. Leaves other classes alone, which may count otherwise.
void start_as_python(torch::optim::LRScheduler& scheduler);

/// The current learning rate of each group of parameters of its optimizer.
std::vector<double> learning_rates(const torch::optim::LRScheduler& scheduler);

/// Whether `optimizer` is the one whose rates `scheduler` sets.
bool sets_rates_of(const torch::optim::LRScheduler& scheduler, torch::optim::Optimizer& optimizer);

}  // namespace accelerate::train
