#pragma once

// The state of gradient accumulation, shared by models, optimizers and schedulers.

#include <cstdint>

#include "accelerate/train/item_window.h"

namespace accelerate::train {

/// Owned by the Accelerator and shared with the handles that prepare() returns.
struct GradientState {
  bool sync_gradients = true;        // this backward ends a window: gradients are averaged, optimizers step
  int64_t num_steps = 1;             // backwards per window
  int64_t step = 0;                  // backwards since a loader last ended
  bool sync_with_dataloader = true;  // the last batch of a loader ends a window early
  bool sync_each_batch = false;      // average after every backward: less memory, more traffic
  ItemWindow items = {};             // of the window, if batches are weighted by their items
};

}  // namespace accelerate::train

namespace accelerate {
using train::GradientState;
}
