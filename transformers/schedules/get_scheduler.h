#pragma once

// Learning-rate schedules by name:
//
//   auto scheduler = transformers::get_scheduler("linear", adamw, {.num_warmup_steps = 0, .num_training_steps = 1000});

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "transformers/schedules/kwargs.h"
#include "transformers/schedules/schedule.h"

namespace transformers::schedules {

struct GetSchedulerOptions {
  std::optional<int64_t> num_warmup_steps = std::nullopt;
  std::optional<int64_t> num_training_steps = std::nullopt;
  SchedulerSpecificKwargs scheduler_specific_kwargs = {};
};

/// A schedule of an optimizer's learning rate; copies refer to the same one. accelerator.prepare takes it.
class LRScheduler {
 public:
  explicit LRScheduler(std::shared_ptr<Schedule> schedule) : schedule_(std::move(schedule)) {}

  /// Sets the learning rate of the next step. Throws Error where the schedule follows a metric.
  void step() { schedule_->step(); }

  /// The same for reduce_lr_on_plateau and greedy, by the value they follow.
  void step(double metric) { schedule_->step(metric); }

  /// The current learning rate of each group of parameters.
  std::vector<double> get_last_lr() const { return schedule_->learning_rates(); }

  /// The optimizer whose learning rate it sets.
  torch::optim::Optimizer& optimizer() const { return schedule_->optimizer(); }

  /// Everything that changes, under the keys of Python's state_dict.
  ScheduleState state_dict() const { return schedule_->state_dict(); }

  /// Goes on from `state`, and sets the learning rates that belong to it. Throws Error for the state of another kind.
  void load_state_dict(const ScheduleState& state) { schedule_->load_state_dict(state); }

 private:
  std::shared_ptr<Schedule> schedule_;
};

/// The schedule called `name` for `optimizer`, which it borrows and whose learning rate it sets at once: linear,
/// cosine, cosine_with_restarts, polynomial, constant, constant_with_warmup, inverse_sqrt, reduce_lr_on_plateau,
/// cosine_with_min_lr, cosine_warmup_with_min_lr, warmup_stable_decay or greedy. Throws Error for another name and for
/// options that are missing, contradict each other or mean nothing to the schedule.
LRScheduler get_scheduler(std::string_view name, torch::optim::Optimizer& optimizer,
                          const GetSchedulerOptions& options = {});

/// The same for a prepared optimizer, or a pointer to one.
template <class Handle>
  requires requires(const Handle& handle) {
    { *handle } -> std::convertible_to<torch::optim::Optimizer&>;
  }
LRScheduler get_scheduler(std::string_view name, const Handle& handle, const GetSchedulerOptions& options = {}) {
  return get_scheduler(name, static_cast<torch::optim::Optimizer&>(*handle), options);
}

}  // namespace transformers::schedules

namespace transformers {
using schedules::get_scheduler;
using schedules::GetSchedulerOptions;
using schedules::LRScheduler;
}  // namespace transformers
