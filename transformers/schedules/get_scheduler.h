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

/// One value for all parameter groups, or one for each.
using PerGroup = std::variant<double, std::vector<double>>;

/// Options of single schedules, under Python's names. An empty option has the default of the schedule. Setting an
/// option that the schedule does not have is an error, except for the constant schedules, which ignore it.
struct SchedulerSpecificKwargs {
  std::optional<double> num_cycles = {};      // of cosine: number of waves (0.5: falls once); with restarts: of falls
  std::optional<double> lr_end = {};          // of polynomial: 1e-7
  std::optional<double> power = {};           // of polynomial: 1
  std::optional<int64_t> timescale = {};      // of inverse_sqrt: the warm-up, or 10,000
  std::optional<PerGroup> min_lr = {};        // the lowest rate
  std::optional<double> min_lr_rate = {};     // the same as a fraction of the initial rate
  std::optional<double> warmup_lr_rate = {};  // start of the warm-up of cosine_warmup_with_min_lr

  std::optional<int64_t> num_decay_steps = {};  // of warmup_stable_decay; required
  std::optional<int64_t> num_stable_steps = {};
  std::optional<std::string> warmup_type = {};  // linear, cosine or 1-sqrt
  std::optional<std::string> decay_type = {};   // cosine, linear or 1-sqrt
  std::optional<double> min_lr_ratio = {};

  std::optional<std::string> mode = {};  // of a schedule that uses a metric: min or max
  std::optional<double> factor = {};
  std::optional<int64_t> patience = {};
  std::optional<double> threshold = {};
  std::optional<std::string> threshold_mode = {};  // rel or abs
  std::optional<int64_t> cooldown = {};
  std::optional<double> eps = {};
  std::optional<int64_t> warmup = {};  // of greedy, like all options below
  std::optional<PerGroup> max_lr = {};
  std::optional<bool> smooth = {};
  std::optional<int64_t> window_size = {};
  std::optional<int64_t> reset_start = {};
  std::optional<bool> verbose = {};
};

/// The names of the options that are set.
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

/// A learning-rate schedule of an optimizer. Copies refer to the same schedule. Pass it to accelerator.prepare.
class LRScheduler {
 public:
  explicit LRScheduler(std::shared_ptr<Schedule> schedule) : schedule_(std::move(schedule)) {}

  /// Sets the learning rate of the next step. Throws Error if the schedule uses a metric.
  void step() { schedule_->step(); }

  /// The same for reduce_lr_on_plateau and greedy, with the new value of the metric.
  void step(double metric) { schedule_->step(metric); }

  /// The current learning rate of each parameter group.
  std::vector<double> get_last_lr() const { return schedule_->learning_rates(); }

  /// The optimizer whose learning rate it sets.
  torch::optim::Optimizer& optimizer() const { return schedule_->optimizer(); }

  /// The state, with the keys of Python's state_dict.
  ScheduleState state_dict() const { return schedule_->state_dict(); }

  /// Restores `state` and sets its learning rates. Throws Error for the state of another kind of schedule.
  void load_state_dict(const ScheduleState& state) { schedule_->load_state_dict(state); }

 private:
  std::shared_ptr<Schedule> schedule_;
};

/// Creates the schedule `name` for `optimizer` and sets the initial learning rate. `optimizer` must outlive the
/// schedule. Names: linear, cosine, cosine_with_restarts, polynomial, constant, constant_with_warmup, inverse_sqrt,
/// reduce_lr_on_plateau, cosine_with_min_lr, cosine_warmup_with_min_lr, warmup_stable_decay or greedy. Throws Error for
/// another name, and for options that are missing, contradict each other or do not belong to the schedule.
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
