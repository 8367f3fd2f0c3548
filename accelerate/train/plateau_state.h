#pragma once

// The state of libtorch's ReduceLROnPlateauScheduler, which is private there.

#include <torch/optim/schedulers/reduce_on_plateau_scheduler.h>

#include "accelerate/tensors/torch_file.h"

namespace accelerate::train {

/// The mutable state under the keys of Python's ReduceLROnPlateau: "best", "num_bad_epochs", "cooldown_counter" and
/// "last_epoch". The learning rates are part of the optimizer's state.
tensors::TorchValue plateau_state_dict(const torch::optim::ReduceLROnPlateauScheduler& scheduler);

/// Resumes from `state`, which may be Python's, and keeps the scheduler's own options. Throws Error, and changes
/// nothing, if the state belongs to another class.
void load_plateau_state(torch::optim::ReduceLROnPlateauScheduler& scheduler, const tensors::TorchValue& state);

}  // namespace accelerate::train
