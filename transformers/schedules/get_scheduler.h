#pragma once

// Learning-rate schedules by name:
//
//   auto scheduler = transformers::get_scheduler("linear", adamw, {.num_warmup_steps = 0, .num_training_steps = 1000});

#include <concepts>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "transformers/schedules/schedule.h"

namespace transformers::schedules {

/// One value for all groups of parameters, or one for each.
using PerGroup = std::variant<double, std::vector<double>>;

/// What only some schedules take, under Python's names. One that is left empty has the default of its schedule; one
/// that is given to a schedule which does not take it is an error.
struct SchedulerSpecificKwargs {
  std::optional<double> num_cycles = {};      // of a cosine: 0.5 falls once; with restarts: how often it falls
  std::optional<double> lr_end = {};          // of polynomial: 1e-7
  std::optional<double> power = {};           // of polynomial: 1
  std::optional<int64_t> timescale = {};      // of inverse_sqrt: the warm-up, or 10,000
  std::optional<PerGroup> min_lr = {};        // the lowest rate
  std::optional<double> min_lr_rate = {};     // the same as a part of the initial one
  std::optional<double> warmup_lr_rate = {};  // where the warm-up of cosine_warmup_with_min_lr begins

  std::optional<int64_t> num_decay_steps = {};  // of warmup_stable_decay, which needs it
  std::optional<int64_t> num_stable_steps = {};
  std::optional<std::string> warmup_type = {};  // linear, cosine or 1-sqrt
  std::optional<std::string> decay_type = {};   // cosine, linear or 1-sqrt
  std::optional<double> min_lr_ratio = {};

  std::optional<std::string> mode = {};  // of a schedule that follows a metric: min or max
  std::optional<double> factor = {};
  std::optional<int64_t> patience = {};
  std::optional<double> threshold = {};
  std::optional<std::string> threshold_mode = {};  // rel or abs
  std::optional<int64_t> cooldown = {};
  std::optional<double> eps = {};
  std::optional<int64_t> warmup = {};  // of greedy, as the following
  std::optional<PerGroup> max_lr = {};
  std::optional<bool> smooth = {};
  std::optional<int64_t> window_size = {};
  std::optional<int64_t> reset_start = {};
  std::optional<bool> verbose = {};
};

/// The names of the options that are given.
std::set<std::string_view> names_of_given(const SchedulerSpecificKwargs& kwargs);

}  // namespace transformers::schedules

namespace transformers {
using schedules::SchedulerSpecificKwargs;
}

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
