#pragma once

// Where the loop of one rank is: its place in each data loader, and gradients of a window of accumulation that is not
// complete. Python's checkpoints do not have this; it is in a file of its own, which Python passes over.

#include <filesystem>
#include <functional>

#include "accelerate/checkpoint/training_state.h"

namespace accelerate::checkpoint {

/// What the file of this rank holds, sharing memory with the gradients.
tensors::TorchValue loop_state(const TrainingState& state, int world_size);

/// Reads the file of `rank` and returns what goes to that place; nothing changes before. In a job of another size the
/// place is that of the saved job's samples: none is left out, some come again where batches do not divide; and the
/// gradients that wait are those of all its ranks. Without a file of any rank, as in a folder from Python, nothing is
/// done. Throws Error naming what does not fit.
[[nodiscard]] std::function<void()> checked_loop_state(const std::filesystem::path& directory,
                                                       const TrainingState& state, int rank, int world_size);

}  // namespace accelerate::checkpoint
