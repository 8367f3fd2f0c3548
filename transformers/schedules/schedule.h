#pragma once

// What every schedule is: it sets the learning rates of an optimizer, step by step, and has a state.

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

/// Values by the names that Python's schedulers give them.
using ScheduleState = accelerate::tensors::TorchValue;

/// A list of numbers as a value.
ScheduleState list_of(const std::vector<double>& numbers);

/// Adds a value to the end of the dict.
void write_state(ScheduleState& state, std::string_view key, ScheduleState value);
void write_state(ScheduleState& state, std::string_view key, const std::vector<double>& numbers);

/// Reads the value called `key` into `target`; a whole number may stand for a float. Throws Error when it is missing or
/// of another type.
void read_state(const ScheduleState& state, std::string_view key, bool& target);
void read_state(const ScheduleState& state, std::string_view key, int64_t& target);
void read_state(const ScheduleState& state, std::string_view key, double& target);
void read_state(const ScheduleState& state, std::string_view key, std::string& target);

/// The same for numbers, of which there have to be as many as `target` has.
void read_state(const ScheduleState& state, std::string_view key, std::vector<double>& target);

/// The list of numbers called `key`, of any length.
std::vector<double> read_numbers(const ScheduleState& state, std::string_view key);

/// The value called `key`. Throws Error when there is none.
const ScheduleState& find_state(const ScheduleState& state, std::string_view key);

}  // namespace transformers::schedules

namespace transformers {
using schedules::ScheduleState;
}

namespace transformers::schedules {

/// The factor at a step, counted from 0.
using Factor = std::function<double(int64_t step)>;

/// Rises from 0 to 1 in `num_warmup_steps`, then stays.
Factor constant_after_warmup(int64_t num_warmup_steps);

/// Falls on a line to 0 at `num_training_steps` after the warm-up.
Factor linear(int64_t num_warmup_steps, int64_t num_training_steps);

/// Falls on `num_cycles` waves of a cosine, of which half a one ends at the bottom, to `min_lr_rate`. Beyond
/// `num_training_steps` the wave goes on.
Factor cosine(int64_t num_warmup_steps, int64_t num_training_steps, double num_cycles, double min_lr_rate);

/// The same one step earlier, with a warm-up that does not begin at 0 but with its first step, or at `warmup_lr_rate`.
Factor cosine_from_first_step(int64_t num_warmup_steps, int64_t num_training_steps, double num_cycles,
                              double min_lr_rate, std::optional<double> warmup_lr_rate);

/// Falls `num_cycles` times from 1 to 0 on half a cosine.
Factor cosine_with_restarts(int64_t num_warmup_steps, int64_t num_training_steps, double num_cycles);

/// Falls from `lr` to `lr_end` by a power of what remains.
Factor polynomial(int64_t num_warmup_steps, int64_t num_training_steps, double lr, double lr_end, double power);

/// Falls with the square root of the steps.
Factor inverse_sqrt(int64_t num_warmup_steps, int64_t timescale);

/// How long each phase of warmup_stable_decay takes, and how its slopes look: linear, cosine or 1-sqrt.
struct Phases {
  int64_t num_warmup_steps = 0;
  int64_t num_stable_steps = 0;
  int64_t num_decay_steps = 0;
  std::string warmup_type = "linear";
  std::string decay_type = "cosine";
  double min_lr_ratio = 0;
  double num_cycles = 0.5;
};

/// Rises, stays at 1, falls to `min_lr_ratio` and stays there. Throws Error for an unknown slope.
Factor warmup_stable_decay(const Phases& phases);

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
