#pragma once

// The state of gradient accumulation, shared by models, optimizers and schedulers.

#include <cstdint>
#include <functional>

namespace accelerate::train {

/// Counts the items of an accumulation window. The total is known only at its end. Until then gradients are those of
/// the sums, divided by a power of two near the first batch's item count, because the exact sums could overflow in
/// fp16.
class ItemWindow {
 public:
  /// Factors that turn gradients of sums into gradients of the mean.
  struct Scale {
    double loss = 1;       // for the current batch
    double gradients = 1;  // for the batches before it
  };

  struct Step {
    bool ends_window = true;
    bool gradients_are_averaged = false;  // over ranks, in every step of the window
  };

  /// The batches counted so far.
  struct State {
    int64_t num_items = 0;  // of this rank
    int64_t divisor = 0;    // of their losses; 0 if none were counted
  };

  /// Returns the sum of a number over all ranks.
  using SumOverRanks = std::function<int64_t(int64_t)>;

  /// Begins a step of accumulate(). One batch may be counted in it, unless the step is a window of its own.
  void begin_step(bool begins_window);

  /// Counts a batch and returns its factors. Calls `sum_over_ranks` if the window ends. Throws Error for a negative
  /// number, for a second batch in the step, and for a window with uncounted batches.
  Scale count(int64_t num_items, const Step& step, int num_ranks, const SumOverRanks& sum_over_ranks);

  /// Records a batch without an item count. Throws Error if other batches of its window were counted.
  void skip(bool ends_window);

  /// Whether an unfinished window has counted batches.
  bool is_open() const { return state_.divisor != 0; }

  const State& state() const { return state_; }

  /// Continues the window of `state`.
  void load(const State& state);

 private:
  State state_ = {};
  bool has_others_ = false;       // the window has uncounted batches
  bool step_is_counted_ = false;  // a batch of this step was counted, in a window of several
};

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
