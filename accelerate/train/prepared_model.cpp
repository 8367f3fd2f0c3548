#include "accelerate/train/prepared_model.h"

#include <ATen/core/grad_mode.h>

#include "accelerate/base/error.h"
#include "accelerate/tensors/distinct_tensors.h"

namespace accelerate::train {

void PreparedModel::before_forward() {
  if (!distributed_) return;
  if (at::GradMode::is_enabled()) {
    forward_synchronizes_ = num_pauses_ == 0;
    ran_forward_ = true;
    set_unarmed_averaging();
  }
  if (num_pauses_ == 0) distributed_->before_forward(module_->is_training());
}

void PreparedModel::register_comm_hook(parallel::CommHookFunction hook) {
  if (!distributed_) fail("register_comm_hook: the model was prepared with evaluation_mode, so it has no gradients");
  distributed_->register_comm_hook(std::move(hook));
}

/// Decides how to handle a loss.backward() that bypasses the Accelerator.
void PreparedModel::set_unarmed_averaging() {
  if (distributed_) distributed_->average_unarmed(ran_forward_ && synchronizes());
}

int64_t PreparedModel::count_step(bool ends) {
  const int64_t length = window_length_ + 1;
  window_length_ = ends ? 0 : length;
  return length;
}

void PreparedModel::scale_gradients(double factor) {
  for (const auto& parameter : tensors::distinct_tensors(module_->parameters())) {
    if (parameter.grad().defined()) parameter.grad().mul_(factor);
  }
}

SyncScope::SyncScope(Kind kind, std::vector<std::shared_ptr<PreparedModel>> models)
    : kind_(kind), models_(std::move(models)) {
  count(+1);
}

SyncScope::~SyncScope() { count(-1); }

void SyncScope::count(int change) {
  for (const auto& model : models_) {
    (kind_ == Kind::Pause ? model->num_pauses_ : model->num_triggers_) += change;
    model->set_unarmed_averaging();
  }
}

}  // namespace accelerate::train
