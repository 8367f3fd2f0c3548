#include "accelerate/train/scheduler.h"

#include <algorithm>

namespace accelerate::train {

/// Looks for the scheduler's optimizer among those that have been added since the last call.
void Scheduler::find_optimizer() const {
  if (optimizers_->size() < 2) return;
  for (; !target_->optimizer && target_->num_asked < optimizers_->size(); ++target_->num_asked) {
    auto& optimizer = *(*optimizers_)[target_->num_asked];
    if (target_->is_of(optimizer)) target_->optimizer = &optimizer;
  }
}

std::vector<Optimizer> Scheduler::followed_optimizers() const {
  if (optimizers_->size() == 1) return *optimizers_;
  find_optimizer();
  for (const auto& optimizer : *optimizers_) {
    if (&*optimizer == target_->optimizer) return {optimizer};
  }
  return *optimizers_;
}

std::vector<double> Scheduler::get_last_lr() const {
  if (auto lrs = target_->get_last_lr()) return *lrs;
  const auto optimizers = followed_optimizers();
  if (optimizers.empty()) fail("scheduler.get_last_lr(): the scheduler has no such member and no prepared optimizer");
  std::vector<double> lrs;
  for (const auto& group : optimizers.front().param_groups()) lrs.push_back(group.options().get_lr());
  return lrs;
}

void Scheduler::advance(std::optional<double> metric) {
  if (!options_.step_with_optimizer) return target_->step(metric);
  if (!gradient_state_->sync_gradients) return;
  const auto optimizers = followed_optimizers();
  const bool any_skipped = std::any_of(optimizers.begin(), optimizers.end(),
                                       [](const Optimizer& optimizer) { return optimizer.step_was_skipped(); });
  if (any_skipped) return;
  if (options_.split_batches) return target_->step(metric);
  // Each optimizer step consumes one batch per process, but the schedule is written for one process.
  for (int i = 0; i < options_.num_processes && !target_->finished(); ++i) target_->step(metric);
}

}  // namespace accelerate::train
