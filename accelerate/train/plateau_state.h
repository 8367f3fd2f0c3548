#pragma once

// The state of libtorch's ReduceLROnPlateauScheduler, which does not show it.

#include <torch/optim/schedulers/reduce_on_plateau_scheduler.h>

#include "accelerate/tensors/torch_file.h"

namespace accelerate::train {

/// What changes in it, under the keys of Python's ReduceLROnPlateau: "best", "num_bad_epochs", "cooldown_counter" and
/// "last_epoch". The learning rates are part of the optimizer's state.
tensors::TorchValue plateau_state_dict(const torch::optim::ReduceLROnPlateauScheduler& scheduler);

/// Goes on from `state`, which may be Python's, with the settings that the scheduler was made with. Throws Error, and
/// changes nothing, when it is the state of another kind.
void load_plateau_state(torch::optim::ReduceLROnPlateauScheduler& scheduler, const tensors::TorchValue& state);

}  // namespace accelerate::train
