#include "transformers/schedules/metric_schedules.h"

#include <algorithm>

namespace transformers::schedules {

ReduceLROnPlateau::ReduceLROnPlateau(torch::optim::Optimizer& optimizer, MetricOptions options)
    : Schedule(optimizer), options_(std::move(options)), best_(options_.improvement.worst()) {
  check_options(options_, learning_rates().size(), "reduce_lr_on_plateau");
}

void ReduceLROnPlateau::step(double metric) {
  ++last_epoch_;
  if (options_.improvement.is_better(metric, best_)) {
    best_ = metric;
    num_bad_epochs_ = 0;
  } else {
    ++num_bad_epochs_;
  }
  if (cooldown_counter_ > 0) {
    --cooldown_counter_;
    num_bad_epochs_ = 0;
  }
  if (num_bad_epochs_ <= options_.patience) return;

  auto rates = learning_rates();
  for (size_t i = 0; i < rates.size(); ++i) {
    const double reduced = std::max(rates[i] * options_.factor, options_.min_lrs[i]);
    if (rates[i] - reduced > options_.eps) rates[i] = reduced;
  }
  set_learning_rates(rates);
  cooldown_counter_ = options_.cooldown;
  num_bad_epochs_ = 0;
}

template <class Self, class Visit>
void ReduceLROnPlateau::for_each_field(Self& self, Visit&& visit) {
  for_each_option(self.options_, visit);
  visit("best", self.best_);
  visit("num_bad_epochs", self.num_bad_epochs_);
  visit("cooldown_counter", self.cooldown_counter_);
  visit("last_epoch", self.last_epoch_);
}

ScheduleState ReduceLROnPlateau::state_dict() const {
  auto state =
      ScheduleState::dict({{"_last_lr", list_of(learning_rates())}, {"mode_worse", options_.improvement.worst()}});
  for_each_field(*this, writer(state));
  // Python's default for parameter groups that are added later: the lower bound if all groups have the same.
  const auto& bounds = options_.min_lrs;
  const bool single = std::equal(bounds.begin() + 1, bounds.end(), bounds.begin());
  write_state(state, "default_min_lr", single ? ScheduleState(bounds.front()) : ScheduleState());
  return state;
}

void ReduceLROnPlateau::load_state_dict(const ScheduleState& state) {
  auto rates = learning_rates();
  read_state(state, "_last_lr", rates);
  for_each_field(*this, reader(state));
  set_learning_rates(rates);
}

}  // namespace transformers::schedules
