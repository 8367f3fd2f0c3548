#pragma once

// Gradient accumulation weighted by items, such as tokens: turns losses that are sums over the items of a batch into
// gradients of the mean over all items of a window, on all ranks.

#include <cstdint>
#include <functional>

namespace accelerate::train {

/// Counts the items of a window of accumulation. How many there are is known at its end. Until then gradients are those
/// of the sums, divided by a power of two near the items of the first batch: the exact sums could overflow in fp16.
class ItemWindow {
 public:
  /// Factors that turn gradients of sums into gradients of the mean.
  struct Scale {
    double loss = 1;       // of the batch at hand
    double gradients = 1;  // of the batches before it
  };

  struct Step {
    bool ends_window = true;
    bool gradients_are_averaged = false;  // over ranks, before the end of the window too
  };

  /// The batches counted so far.
  struct State {
    int64_t num_items = 0;  // of this rank
    int64_t divisor = 0;    // of their losses; 0 if there are none
  };

  /// Returns the sum of a number over all ranks.
  using SumOverRanks = std::function<int64_t(int64_t)>;

  /// Begins a step of accumulate(). One batch may be counted in it, unless it is a window of its own.
  void begin_step(bool begins_window);

  /// Counts a batch and returns the factors for it. `sum_over_ranks` is called where the window ends. Throws Error for
  /// a negative number, a second batch in the step, and a window with batches that were not counted.
  Scale count(int64_t num_items, const Step& step, int num_ranks, const SumOverRanks& sum_over_ranks);

  /// Notes a batch whose items were not counted. Throws Error if others of its window were.
  void pass_over(bool ends_window);

  /// Whether batches were counted whose window has not ended.
  bool is_open() const { return state_.divisor != 0; }

  const State& state() const { return state_; }

  /// Continues the window of `state`.
  void load(const State& state);

 private:
  State state_ = {};
  bool has_others_ = false;       // batches of this window that were not counted
  bool step_is_counted_ = false;  // a batch of this step was, in a window of several
};

}  // namespace accelerate::train
