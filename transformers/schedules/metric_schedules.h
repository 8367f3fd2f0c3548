#pragma once

// The schedules that follow a metric, such as the evaluation loss: ReduceLROnPlateau and GreedyLR.

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "transformers/schedules/schedule.h"

namespace transformers::schedules {

/// When a measured value counts as better than the best so far.
struct Improvement {
  std::string mode = "min";            // whether lower (min) or higher (max) is better
  std::string threshold_mode = "rel";  // the threshold is a part of the best (rel), or a difference (abs)
  double threshold = 1e-4;

  /// Throws Error for a mode that there is not.
  void check() const;

  /// The value that any other is better than.
  double worst() const;

  bool is_better(double value, double best) const;
};

/// What both schedules of this file take. Bounds hold one value for each group of parameters.
struct MetricOptions {
  Improvement improvement = {};
  double factor = 0.1;    // below 1
  int64_t patience = 10;  // values without a change for the better (or worse) that are let pass
  int64_t cooldown = 0;   // values that do not count after the rate fell
  std::vector<double> min_lrs = {};
  double eps = 1e-8;  // smaller changes of the rate are not made
};

/// Throws Error for options that make no sense for an optimizer with `num_groups` groups of parameters.
void check_options(const MetricOptions& options, size_t num_groups, const char* schedule);

/// Calls `visit(key, value)` for each option; Python keeps them in the state of a schedule too.
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

/// For a visit of fields: copies each into `state`.
inline auto writer(ScheduleState& state) {
  return [&](const char* key, const auto& value) { write_state(state, key, value); };
}

/// For a visit of fields: sets each from `state`.
inline auto reader(const ScheduleState& state) {
  return [&](const char* key, auto& value) { read_state(state, key, value); };
}

/// Multiplies the rates by `factor` when the value has not improved for longer than `patience`.
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
