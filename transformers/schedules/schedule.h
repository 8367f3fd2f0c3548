#pragma once

// The base class of learning-rate schedules, their state, and the schedules that are a function of the step.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <torch/optim/optimizer.h>

#include "accelerate/tensors/torch_file.h"

namespace transformers::schedules {

/// A state_dict with the keys of Python's schedulers.
using ScheduleState = accelerate::tensors::TorchValue;

/// A list of numbers as a value of a state.
ScheduleState list_of(const std::vector<double>& numbers);

/// Appends a key and its value to the dict.
void write_state(ScheduleState& state, std::string_view key, ScheduleState value);
void write_state(ScheduleState& state, std::string_view key, const std::vector<double>& numbers);

/// Reads the value of `key` into `target`. An integer is accepted for a float. Throws Error if it is missing or has
/// another type.
void read_state(const ScheduleState& state, std::string_view key, bool& target);
void read_state(const ScheduleState& state, std::string_view key, int64_t& target);
void read_state(const ScheduleState& state, std::string_view key, double& target);
void read_state(const ScheduleState& state, std::string_view key, std::string& target);

/// The same for a list of numbers. Throws Error if its length differs from that of `target`.
void read_state(const ScheduleState& state, std::string_view key, std::vector<double>& target);

/// The list of numbers of `key`, of any length.
std::vector<double> read_numbers(const ScheduleState& state, std::string_view key);

/// The value of `key`. Throws Error if it is missing.
const ScheduleState& find_state(const ScheduleState& state, std::string_view key);

}  // namespace transformers::schedules

namespace transformers {
using schedules::ScheduleState;
}

namespace transformers::schedules {

/// The factor of the learning rate at a step, counted from 0.
using Factor = std::function<double(int64_t step)>;

/// Rises linearly from 0 to 1 during `num_warmup_steps`, then stays at 1. The other functions start with the same
/// warm-up.
Factor constant_after_warmup(int64_t num_warmup_steps);

/// Falls linearly after the warm-up, to 0 at `num_training_steps`.
Factor linear(int64_t num_warmup_steps, int64_t num_training_steps);

/// Follows `num_cycles` waves of a cosine between 1 and `min_lr_rate`; 0.5 waves end at the minimum. The cosine
/// continues after `num_training_steps`.
Factor cosine(int64_t num_warmup_steps, int64_t num_training_steps, double num_cycles, double min_lr_rate);

/// The same shifted by one step: the value at step 0 is not 0 but that of the first warm-up step, or `warmup_lr_rate`.
Factor cosine_from_first_step(int64_t num_warmup_steps, int64_t num_training_steps, double num_cycles,
                              double min_lr_rate, std::optional<double> warmup_lr_rate);

/// Falls `num_cycles` times from 1 to 0, each time along half a cosine wave.
Factor cosine_with_restarts(int64_t num_warmup_steps, int64_t num_training_steps, double num_cycles);

/// Lets the rate fall from `lr` to `lr_end`, with the fraction of the remaining steps to the power of `power`.
Factor polynomial(int64_t num_warmup_steps, int64_t num_training_steps, double lr, double lr_end, double power);

/// Falls with the inverse square root of the step.
Factor inverse_sqrt(int64_t num_warmup_steps, int64_t timescale);

/// The length of each phase of warmup_stable_decay, and the shape of warm-up and decay: linear, cosine or 1-sqrt.
struct Phases {
  int64_t num_warmup_steps = 0;
  int64_t num_stable_steps = 0;
  int64_t num_decay_steps = 0;
  std::string warmup_type = "linear";
  std::string decay_type = "cosine";
  double min_lr_ratio = 0;
  double num_cycles = 0.5;
};

/// Rises from `min_lr_ratio`, stays at 1, falls to `min_lr_ratio` and stays there. Throws Error for an unknown shape.
Factor warmup_stable_decay(const Phases& phases);

/// A schedule of one optimizer, which must outlive it.
class Schedule {
 public:
  explicit Schedule(torch::optim::Optimizer& optimizer) : optimizer_(optimizer) {}
  Schedule(const Schedule&) = delete;
  Schedule& operator=(const Schedule&) = delete;
  virtual ~Schedule() = default;

  /// Advances by one step. Throws Error if the schedule uses a metric.
  virtual void step();

  /// Advances by one value of the metric. Throws Error if the schedule does not use one.
  virtual void step(double metric);

  virtual ScheduleState state_dict() const = 0;

  /// Restores `state` and sets its learning rates.
  virtual void load_state_dict(const ScheduleState& state) = 0;

  /// The current learning rate of each parameter group.
  std::vector<double> learning_rates() const;

  torch::optim::Optimizer& optimizer() const { return optimizer_; }

 protected:
  void set_learning_rates(const std::vector<double>& rates);

 private:
  torch::optim::Optimizer& optimizer_;
};

/// The initial learning rates times a factor of the step: factor(0) from construction on, factor(1) after a step. As in
/// Python, the initial rates are those before the first schedule of the optimizer. They are forgotten when the last
/// LambdaSchedule of the optimizer is destroyed.
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
