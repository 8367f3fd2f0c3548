#pragma once

// The state of the GradScaler in the format of Python's scaler.pt.

#include "accelerate/precision/grad_scaler.h"
#include "accelerate/tensors/torch_file.h"

namespace accelerate::checkpoint {

/// Returns the keys of Python's GradScaler.state_dict(): as there, none if the scaler is disabled.
tensors::TorchValue scaler_state_dict(const precision::GradScaler& scaler);

/// Throws Error if a key is missing or has another type.
precision::GradScalerState read_scaler_state(const tensors::TorchValue& state);

}  // namespace accelerate::checkpoint
