#include "transformers/schedules/schedule.h"

#include <algorithm>
#include <map>
#include <mutex>

#include "accelerate/base/error.h"

namespace transformers::schedules {

namespace {

using Rates = std::vector<double>;

/// The rates of an optimizer's parameter groups before its first schedule. Python stores them in the groups as
/// initial_lr. They are `now` if the optimizer has no schedule yet, and for groups that were added since.
std::shared_ptr<const Rates> initial_rates(const torch::optim::Optimizer& optimizer, const Rates& now) {
  static std::mutex mutex;
  static std::map<const torch::optim::Optimizer*, std::weak_ptr<Rates>> known;
  std::lock_guard lock(mutex);
  std::erase_if(known, [](const auto& item) { return item.second.expired(); });
  auto rates = known[&optimizer].lock();
  if (!rates) known[&optimizer] = rates = std::make_shared<Rates>();
  for (size_t i = rates->size(); i < now.size(); ++i) rates->push_back(now[i]);
  return rates;
}

}  // namespace

void Schedule::step() { accelerate::fail("scheduler.step(): this schedule uses a metric; call step(metric)"); }

void Schedule::step(double metric) {
  accelerate::fail("scheduler.step(", metric, "): this schedule does not use a metric; call step()");
}

std::vector<double> Schedule::learning_rates() const {
  std::vector<double> rates;
  for (const auto& group : optimizer_.param_groups()) rates.push_back(group.options().get_lr());
  return rates;
}

void Schedule::set_learning_rates(const std::vector<double>& rates) {
  auto& groups = optimizer_.param_groups();
  if (groups.size() != rates.size()) {
    accelerate::fail("the schedule was created for ", rates.size(), " groups of parameters, and the optimizer has ",
                     groups.size(), "; add groups before creating the schedule");
  }
  for (size_t i = 0; i < rates.size(); ++i) groups[i].options().set_lr(rates[i]);
}

LambdaSchedule::LambdaSchedule(torch::optim::Optimizer& optimizer, Factor factor)
    : Schedule(optimizer),
      factor_(std::move(factor)),
      initial_lrs_(initial_rates(optimizer, learning_rates())),
      base_lrs_(*initial_lrs_) {
  apply();
}

void LambdaSchedule::step() {
  ++last_epoch_;
  apply();
}

void LambdaSchedule::apply() {
  auto rates = base_lrs_;
  for (double& rate : rates) rate *= factor_(last_epoch_);
  set_learning_rates(rates);
}

ScheduleState LambdaSchedule::state_dict() const {
  return ScheduleState::dict({{"base_lrs", list_of(base_lrs_)},
                              {"last_epoch", last_epoch_},
                              {"_step_count", last_epoch_ + 1},
                              {"_is_initial", false},
                              {"_get_lr_called_within_step", false},
                              {"_last_lr", list_of(learning_rates())},
                              // Python stores the attributes of callable objects here; a plain function has none.
                              {"lr_lambdas", ScheduleState::list(ScheduleState::Items(base_lrs_.size()))}});
}

void LambdaSchedule::load_state_dict(const ScheduleState& state) {
  auto rates = base_lrs_;
  read_state(state, "_last_lr", rates);
  read_state(state, "base_lrs", base_lrs_);
  read_state(state, "last_epoch", last_epoch_);
  set_learning_rates(rates);
}

}  // namespace transformers::schedules
