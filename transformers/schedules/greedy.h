#pragma once

// The schedule that raises the learning rate while a measured value improves and lowers it while it does not.

#include <cstdint>
#include <deque>
#include <vector>

#include "transformers/schedules/metric_options.h"
#include "transformers/schedules/schedule.h"

namespace transformers::schedules {

/// What GreedyLR takes besides.
struct GreedyOptions : MetricOptions {
  int64_t warmup = 0;  // values that do not count after the rate rose
  std::vector<double> max_lrs = {};
  bool smooth = false;  // follow the mean of the last `window_size` values
  int64_t window_size = 50;
  int64_t reset_start = 500;  // reductions at the lower bound before everything starts anew
  bool verbose = false;       // say each change of the rate
};

/// Divides the rates by `factor` when the value improved more often in a row than `patience`, multiplies them when it
/// did not for as long, and starts anew after a long time at the lower bound.
class GreedyLR final : public Schedule {
 public:
  GreedyLR(torch::optim::Optimizer& optimizer, GreedyOptions options);

  using Schedule::step;
  void step(double metric) override;
  ScheduleState state_dict() const override;
  void load_state_dict(const ScheduleState& state) override;

 private:
  template <class Self, class Visit>
  static void for_each_field(Self& self, Visit&& visit);

  double smoothed(double metric);
  void count(double value);
  void raise();
  void reduce();
  void change(const std::vector<double>& rates, const char* direction);
  void reset();

  GreedyOptions options_;
  std::vector<double> initial_lrs_;
  double best_;
  int64_t num_bad_epochs_ = 0;
  int64_t num_good_epochs_ = 0;
  int64_t cooldown_counter_ = 0;
  int64_t warmup_counter_ = 0;
  int64_t last_epoch_ = 0;
  int64_t reset_countdown_;
  std::deque<double> window_;
  double window_sum_ = 0;
};

}  // namespace transformers::schedules
