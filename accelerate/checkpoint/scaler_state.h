#pragma once

// The loss scale of fp16 in the form of Python's scaler.pt.

#include "accelerate/precision/grad_scaler.h"
#include "accelerate/tensors/torch_file.h"

namespace accelerate::checkpoint {

/// The keys of Python's GradScaler.state_dict(); as there, nothing of one that is switched off.
tensors::TorchValue scaler_state_dict(const precision::GradScaler& scaler);

/// Throws Error when a key is missing or of another type.
precision::GradScalerState read_scaler_state(const tensors::TorchValue& state);

}  // namespace accelerate::checkpoint
