#pragma once

// The state of libtorch's learning-rate schedulers under the keys of Python's. All that changes in them is a count; the
// learning rates belong to the optimizer, and are part of its state.

#include <torch/optim/schedulers/lr_scheduler.h>

#include "accelerate/tensors/torch_file.h"

namespace accelerate::train {

/// {"last_epoch": ..., "_step_count": ..., "_last_lr": ...}.
tensors::TorchValue lr_scheduler_state_dict(const torch::optim::LRScheduler& scheduler);

/// Goes on from `state`. Throws Error, and changes nothing, when it is not the state of such a scheduler.
void load_lr_scheduler_state(torch::optim::LRScheduler& scheduler, const tensors::TorchValue& state);

}  // namespace accelerate::train
