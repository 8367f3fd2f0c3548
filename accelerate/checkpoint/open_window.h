#pragma once

// The window of gradient accumulation that was open when a checkpoint was saved: its gradients, and how many items they
// are of. Private to this room.

#include <vector>

#include "accelerate/checkpoint/training_state.h"

namespace accelerate::checkpoint {

/// A gradient that `parameter` continues with, times `factor`.
struct WaitingGradient {
  at::Tensor parameter, gradient;
  double factor;
};

/// What one rank continues with.
struct OpenWindow {
  std::vector<WaitingGradient> gradients = {};
  train::ItemWindow::State items = {};
};

/// The gradients of each model by name, if a window is open. They share memory with those of the models.
tensors::TorchValue waiting_gradients(const TrainingState& state);

/// The items of the window, where backward was given their number.
tensors::TorchValue counted_items(const TrainingState& state);

/// The window in the file of one rank. Throws Error if its gradients are not those of the program's models.
OpenWindow window_of(const tensors::TorchValue& file, const TrainingState& state);

/// For a job of another size: what `rank` of `world_size` gets of the windows of all saved ranks.
OpenWindow share_of_windows(const std::vector<tensors::TorchValue>& files, const TrainingState& state, int rank,
                            int world_size);

/// Replaces the gradients of all models by those of `window`.
void restore(const OpenWindow& window, const TrainingState& state);

}  // namespace accelerate::checkpoint
