#pragma once

// What every schedule is: it sets the learning rates of an optimizer, step by step, and has a state.

#include <memory>
#include <vector>

#include <torch/optim/optimizer.h>

#include "transformers/schedules/factors.h"
#include "transformers/schedules/state.h"

namespace transformers::schedules {

/// A schedule of one optimizer, which it borrows.
class Schedule {
 public:
  explicit Schedule(torch::optim::Optimizer& optimizer) : optimizer_(optimizer) {}
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  virtual ~Schedule() = default;

  /// Advances by one step. Throws Error where the schedule follows a metric.
  virtual void step();

  /// Advances by one measured value. Throws Error where the schedule does not follow one.
  virtual void step(double metric);

  virtual ScheduleState state_dict() const = 0;

  /// Goes on from `state`, and sets the learning rates that belong to it.
  virtual void load_state_dict(const ScheduleState& state) = 0;

  /// The current learning rate of each group of parameters.
  std::vector<double> learning_rates() const;

  torch::optim::Optimizer& optimizer() const { return optimizer_; }

 protected:
  void set_learning_rates(const std::vector<double>& rates);

 private:
  torch::optim::Optimizer& optimizer_;
};

/// The initial learning rates times a factor of the step: factor(0) from construction on, factor(1) after a step. As in
/// Python the initial rates are those before the first schedule of the optimizer, as long as one of them lives.
class LambdaSchedule final : public Schedule {
 public:
  LambdaSchedule(torch::optim::Optimizer& optimizer, Factor factor);

  using Schedule::step;
  void step() override;
  ScheduleState state_dict() const override;
  void load_state_dict(const ScheduleState& state) override;

 private:
  void apply();

  Factor factor_;
  std::shared_ptr<const std::vector<double>> initial_lrs_;  // of the optimizer, shared by its schedules
  std::vector<double> base_lrs_;
  int64_t last_epoch_ = 0;
};

}  // namespace transformers::schedules
