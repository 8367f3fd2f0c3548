#pragma once

// The schedule that lowers the learning rate when a measured value no longer improves.

#include <cstdint>
#include <vector>

#include "transformers/schedules/metric_options.h"
#include "transformers/schedules/schedule.h"

namespace transformers::schedules {

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

}  // namespace transformers::schedules
