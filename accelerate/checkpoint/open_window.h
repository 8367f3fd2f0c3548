#pragma once

// The gradient accumulation window that was incomplete at the time of a save: its gradients and its number of items.
// Internal to this directory.

#include <vector>

#include "accelerate/checkpoint/training_state.h"

namespace accelerate::checkpoint {

/// An accumulated gradient to restore into `parameter`, times `factor`.
struct AccumulatedGradient {
  at::Tensor parameter, gradient;
  double factor;
};

/// The incomplete window of one rank.
struct OpenWindow {
  std::vector<AccumulatedGradient> gradients = {};
  train::ItemWindow::State items = {};
};

/// Returns the gradients of each model by name, if a window is open. Shares memory with the gradients.
tensors::TorchValue accumulated_gradients(const TrainingState& state);

/// Returns the number of items in the window, as counted by backward, and their divisor.
tensors::TorchValue counted_items(const TrainingState& state);

/// Reads the window from the file of one rank. Throws Error if its gradients do not fit the program's models.
OpenWindow window_of(const tensors::TorchValue& file, const TrainingState& state);

/// For another world size: combines the windows of all saved ranks into the window of `rank`.
OpenWindow share_of_windows(const std::vector<tensors::TorchValue>& files, const TrainingState& state, int rank,
                            int world_size);

/// Replaces the gradients of all models and the item count by those of `window`.
void restore(const OpenWindow& window, const TrainingState& state);

}  // namespace accelerate::checkpoint
