#pragma once

// The schedules that use a metric, such as the evaluation loss: ReduceLROnPlateau and GreedyLR.

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "transformers/schedules/schedule.h"

namespace transformers::schedules {

/// When a measured value counts as better than the best so far.
struct Improvement {
  std::string mode = "min";            // whether lower (min) or higher (max) is better
  std::string threshold_mode = "rel";  // the threshold is relative to the best (rel) or absolute (abs)
  double threshold = 1e-4;

  /// Throws Error for an unknown mode.
  void check() const;

  /// The initial value of `best`: infinity or minus infinity.
  double worst() const;

  bool is_better(double value, double best) const;
};

/// Options of both schedules. Bounds have one value for each parameter group.
struct MetricOptions {
  Improvement improvement = {};
  double factor = 0.1;    // below 1
  int64_t patience = 10;  // values without improvement (or worsening) before the rate changes
  int64_t cooldown = 0;   // values that are not counted after a reduction
  std::vector<double> min_lrs = {};
  double eps = 1e-8;  // smaller changes of the rate are skipped
};

/// Throws Error for options that are invalid for an optimizer with `num_groups` parameter groups.
void check_options(const MetricOptions& options, size_t num_groups, const char* schedule);

/// Calls `visit(key, value)` for each option. As in Python, options are part of the state_dict.
template <class Options, class Visit>
void for_each_option(Options& options, Visit&& visit) {
  visit("mode", options.improvement.mode);
  visit("threshold", options.improvement.threshold);
  visit("threshold_mode", options.improvement.threshold_mode);
  visit("factor", options.factor);
  visit("patience", options.patience);
  visit("cooldown", options.cooldown);
  visit("min_lrs", options.min_lrs);
  visit("eps", options.eps);
}

/// A visitor for for_each_option and for_each_field that copies each value into `state`.
inline auto writer(ScheduleState& state) {
  return [&](const char* key, const auto& value) { write_state(state, key, value); };
}

/// A visitor that sets each value from `state`.
inline auto reader(const ScheduleState& state) {
  return [&](const char* key, auto& value) { read_state(state, key, value); };
}

/// Multiplies the rates by `factor` if the metric has not improved for more than `patience` values.
class ReduceLROnPlateau final : public Schedule {
 public:
  ReduceLROnPlateau(torch::optim::Optimizer& optimizer, MetricOptions options);

  using Schedule::step;
  void step(double metric) override;
  ScheduleState state_dict() const override;
  void load_state_dict(const ScheduleState& state) override;

 private:
  template <class Self, class Visit>
  static void for_each_field(Self& self, Visit&& visit);

  MetricOptions options_;
  double best_;
  int64_t num_bad_epochs_ = 0;
  int64_t cooldown_counter_ = 0;
  int64_t last_epoch_ = 0;
};

/// The options of GreedyLR.
struct GreedyOptions : MetricOptions {
  int64_t warmup = 0;  // values that are not counted after an increase
  std::vector<double> max_lrs = {};
  bool smooth = false;  // use the mean of the last `window_size` values
  int64_t window_size = 50;
  int64_t reset_start = 500;  // reductions at the lower bound before a reset to the initial state
  bool verbose = false;       // log each change of the rate
};

/// Divides the rates by `factor` after more than `patience` improvements in a row, and multiplies them by it after more
/// than `patience` values without one. Resets to the initial state after `reset_start` reductions at the lower bound.
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
