#include "accelerate/train/gradient_state.h"

#include <algorithm>
#include <bit>

#include "accelerate/base/error.h"

namespace accelerate::train {

namespace {

int64_t power_of_two_from(int64_t number) { return static_cast<int64_t>(std::bit_ceil(static_cast<uint64_t>(number))); }

}  // namespace

void ItemWindow::begin_step(bool begins_window) {
  if (begins_window) {
    state_ = {};
    has_others_ = false;
  }
  step_is_counted_ = false;
}

ItemWindow::Scale ItemWindow::count(int64_t num_items, const Step& step, int num_ranks,
                                    const SumOverRanks& sum_over_ranks) {
  if (num_items < 0)
    fail("backward: num_items is ", num_items, "; it must be the number of items in the sum of the loss");
  if (has_others_) {
    fail("backward: num_items is given, but an earlier backward of this accumulation window had none; pass it to ",
         "all of them");
  }
  if (step_is_counted_) {
    fail("backward: num_items is given for the second time in one step of accumulate(); add the losses and call ",
         "backward once");
  }
  const bool is_first = !is_open();
  step_is_counted_ = !is_first || !step.ends_window;
  // Gradients that are averaged in every step need the same divisor on all ranks.
  if (is_first) state_.divisor = step.gradients_are_averaged ? 1 : power_of_two_from(std::max<int64_t>(num_items, 1));
  state_.num_items += num_items;
  const auto divisor = static_cast<double>(state_.divisor);
  if (!step.ends_window) return {.loss = 1 / divisor};
  // Averaging divides by the number of ranks, but the divisor has to be the number of items.
  const double weight = num_ranks / static_cast<double>(std::max<int64_t>(sum_over_ranks(state_.num_items), 1));
  state_ = {};
  return {.loss = weight, .gradients = is_first ? 1 : weight * divisor};
}

void ItemWindow::skip(bool ends_window) {
  if (is_open()) {
    fail("backward: num_items is missing, but an earlier backward of this accumulation window had it; pass it to ",
         "all of them");
  }
  has_others_ = !ends_window;
}

void ItemWindow::load(const State& state) {
  *this = {};
  state_ = state;
}

}  // namespace accelerate::train
