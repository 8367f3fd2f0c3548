#include "transformers/schedules/metric_schedules.h"

#include <limits>

#include "accelerate/base/error.h"

namespace transformers::schedules {

void Improvement::check() const {
  if (mode != "min" && mode != "max") accelerate::fail("mode is '", mode, "'; it can be min or max");
  if (threshold_mode != "rel" && threshold_mode != "abs") {
    accelerate::fail("threshold_mode is '", threshold_mode, "'; it can be rel or abs");
  }
}

double Improvement::worst() const {
  const double infinity = std::numeric_limits<double>::infinity();
  return mode == "min" ? infinity : -infinity;
}

bool Improvement::is_better(double value, double best) const {
  const double sign = mode == "min" ? -1 : 1;
  const double bar = threshold_mode == "rel" ? best * (1 + sign * threshold) : best + sign * threshold;
  return mode == "min" ? value < bar : value > bar;
}

void check_options(const MetricOptions& options, size_t num_groups, const char* schedule) {
  options.improvement.check();
  if (options.factor >= 1) accelerate::fail(schedule, ": factor is ", options.factor, "; it must be below 1");
  if (options.min_lrs.size() != num_groups) {
    accelerate::fail(schedule, ": min_lr has ", options.min_lrs.size(), " values; the optimizer has ", num_groups,
                     " groups of parameters");
  }
}

}  // namespace transformers::schedules
