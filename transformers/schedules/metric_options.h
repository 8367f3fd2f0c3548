#pragma once

// What the schedules that follow a measured value, such as the loss of the evaluation, have in common.

#include <cstdint>
#include <string>
#include <vector>

#include "transformers/schedules/state.h"

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

}  // namespace transformers::schedules
