#pragma once

// The state of one rank's training loop: the position in each data loader, and the gradients of an incomplete
// accumulation window. Python's checkpoints do not have it; it is in a separate file, which Python ignores.

#include <filesystem>
#include <functional>

#include "accelerate/checkpoint/training_state.h"

namespace accelerate::checkpoint {

/// Returns the contents of this rank's file. Shares memory with the gradients.
tensors::TorchValue loop_state(const TrainingState& state, int world_size);

/// Reads the file of `rank` and returns a function that restores the state; nothing changes before it is called. With
/// another world size the position is computed from the samples seen: none is skipped, but some repeat if the round
/// sizes do not divide evenly. The gradients are then combined from all saved ranks. If no rank has a file, as in a
/// folder from Python, the function does nothing. Throws Error naming what does not fit.
[[nodiscard]] std::function<void()> checked_loop_state(const std::filesystem::path& directory,
                                                       const TrainingState& state, int rank, int world_size);

}  // namespace accelerate::checkpoint
