#include "accelerate/train/gradient_state.h"

#include <vector>

#include <doctest/doctest.h>

#include "accelerate/base/error.h"

using accelerate::Error;
using accelerate::train::ItemWindow;

namespace {

constexpr ItemWindow::Step kInside{.ends_window = false};

int64_t alone(int64_t number) { return number; }

/// What the item of each batch counts for in the gradient of a rank, if all ranks have `num_others` more items.
std::vector<double> weights_of(const std::vector<int64_t>& items, bool averaged_each_time, int num_ranks = 1,
                               int64_t num_others = 0) {
  ItemWindow window;
  std::vector<double> weights;
  for (size_t i = 0; i < items.size(); ++i) {
    window.begin_step(/*begins_window=*/i == 0);
    const auto scale =
        window.count(items[i], {.ends_window = i + 1 == items.size(), .gradients_are_averaged = averaged_each_time},
                     num_ranks, [&](int64_t here) { return here + num_others; });
    for (auto& weight : weights) weight *= scale.gradients;
    weights.push_back(scale.loss);
  }
  CHECK_FALSE(window.is_open());
  return weights;
}

}  // namespace

TEST_CASE("every item of a window has the same weight, in a batch of any size") {
  for (bool averaged_each_time : {false, true}) {
    for (const auto& items : std::vector<std::vector<int64_t>>{{1}, {7}, {3, 5}, {10, 1, 4, 85}, {0, 3}, {3, 0}}) {
      double total = 0;
      for (int64_t count : items) total += static_cast<double>(count);
      for (double weight : weights_of(items, averaged_each_time)) CHECK(weight == doctest::Approx(1 / total));
      // The average over three ranks divides by three.
      for (double weight : weights_of(items, averaged_each_time, 3, 20)) {
        CHECK(weight == doctest::Approx(3 / (total + 20)));
      }
    }
  }
}

TEST_CASE("a window without items divides by one, and losses inside a window stay near the mean of their batch") {
  CHECK(weights_of({0, 0}, false) == std::vector<double>{1, 1});
  ItemWindow window;
  CHECK(window.count(1000, kInside, 1, alone).loss == 1.0 / 1024);
}

TEST_CASE("a window that did not reach its end is dropped when the next begins, and one that was saved continues") {
  ItemWindow window, loaded;
  window.begin_step(true);
  window.count(5, kInside, 1, alone);
  CHECK(window.is_open());
  loaded.load(window.state());
  window.begin_step(true);
  CHECK_FALSE(window.is_open());
  loaded.begin_step(false);
  const auto scale = loaded.count(3, {}, 1, alone);
  CHECK(scale.loss == 1.0 / 8);
  CHECK(scale.gradients == 1);  // divided by 8 already
}

TEST_CASE("all batches of a window count by their items or none does, and one in each step") {
  ItemWindow window;
  CHECK_THROWS_WITH_AS(window.count(-1, {}, 1, alone), doctest::Contains("num_items is -1"), Error);
  window.begin_step(true);
  window.count(5, kInside, 1, alone);
  CHECK_THROWS_WITH_AS(window.count(5, kInside, 1, alone), doctest::Contains("second time in one step"), Error);
  window.begin_step(false);
  CHECK_THROWS_WITH_AS(window.skip(false), doctest::Contains("num_items is missing"), Error);
  window.begin_step(true);
  window.skip(false);
  window.begin_step(false);
  CHECK_THROWS_WITH_AS(window.count(5, {}, 1, alone), doctest::Contains("had none"), Error);
  window.skip(true);
  // Each a window of its own, as outside of accumulate().
  for (int i = 0; i < 2; ++i) CHECK(window.count(5, {}, 1, alone).loss == 0.2);
}
