#pragma once

// Access to private state of libtorch's learning-rate schedulers: their state_dict with Python's keys, and the
// optimizer they belong to. Their only state is a step count; learning rates are part of the optimizer's state.

#include <vector>

#include <torch/optim/schedulers/lr_scheduler.h>

#include "accelerate/tensors/torch_file.h"

namespace accelerate::train {

/// {"last_epoch": ..., "_step_count": ..., "_last_lr": ...}.
tensors::TorchValue lr_scheduler_state_dict(const torch::optim::LRScheduler& scheduler);

/// Resumes from `state`. Throws Error, and changes nothing, if it is not the state of such a scheduler.
void load_lr_scheduler_state(torch::optim::LRScheduler& scheduler, const tensors::TorchValue& state);

/// Takes the step that Python's StepLR takes in its constructor, if a torch::optim::StepLR has not been stepped yet.
/// Otherwise libtorch's would decay one step later. Ignores other classes, which may count differently.
void start_as_python(torch::optim::LRScheduler& scheduler);

/// The current learning rate of each group of parameters of its optimizer.
std::vector<double> learning_rates(const torch::optim::LRScheduler& scheduler);

/// Whether `scheduler` sets the rates of `optimizer`. Changes the rate of its first group for a moment, so ask once,
/// while nothing trains.
bool sets_rates_of(const torch::optim::LRScheduler& scheduler, torch::optim::Optimizer& optimizer);

}  // namespace accelerate::train
