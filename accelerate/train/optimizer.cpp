#include "accelerate/train/optimizer.h"

#include <ATen/ATen.h>

#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/tensors/distinct_tensors.h"
#include "accelerate/train/optimizer_sharding.h"
#include "accelerate/train/optimizer_state.h"
#include "accelerate/train/optimizer_state_dict.h"

namespace accelerate::train {

Optimizer::Optimizer(torch::optim::Optimizer& optimizer, std::shared_ptr<GradientState> gradient_state,
                     std::shared_ptr<precision::GradScaler> scaler, OptimizerOptions options)
    : shared_(std::make_shared<Shared>()) {
  shared_->optimizer = std::shared_ptr<torch::optim::Optimizer>(std::shared_ptr<void>(), &optimizer);
  shared_->gradient_state = std::move(gradient_state);
  shared_->scaler = std::move(scaler);
  shared_->strategy = choose_step_strategy(optimizer, options.fused);
  shared_->fused = options.fused;
  for (auto& group : optimizer.param_groups()) group.params() = tensors::distinct_tensors(group.params());
  move_state_to_parameters(optimizer);
}

Optimizer::Optimizer(std::shared_ptr<torch::optim::Optimizer> optimizer, std::shared_ptr<GradientState> gradient_state,
                     std::shared_ptr<precision::GradScaler> scaler, OptimizerOptions options)
    : Optimizer(*optimizer, std::move(gradient_state), std::move(scaler), options) {
  shared_->optimizer = std::move(optimizer);
}

void Optimizer::step() {
  if (!shared_->gradient_state->sync_gradients) return;
  auto& optimizer = *shared_->optimizer;
  if (!shared_->scaler) return shared_->strategy->step(optimizer);
  const bool stepped = shared_->scaler->step(optimizer, [&] { shared_->strategy->step(optimizer); });
  shared_->scaler->update();
  shared_->step_was_skipped = !stepped;
}

at::Tensor Optimizer::step(const LossClosure& closure) {
  if (!shared_->gradient_state->sync_gradients) return {};
  if (shared_->scaler && shared_->scaler->is_enabled()) {
    fail(
        "optimizer.step(closure) cannot be used with fp16: the gradients that the closure computes are scaled. Call "
        "accelerator.backward(loss) and optimizer.step(), or use bf16, which needs no scaling");
  }
  return shared_->strategy->step(*shared_->optimizer, closure);
}

void Optimizer::zero_grad(bool set_to_none) {
  if (!shared_->gradient_state->sync_gradients) return;
  at::NoGradGuard no_grad;
  // Not torch's zero_grad: it detaches gradients in place, which throws if they are views of communication buckets.
  for (auto& group : param_groups()) {
    for (auto& parameter : group.params()) {
      if (!parameter.grad().defined()) continue;
      auto& gradient = parameter.mutable_grad();
      if (set_to_none) {
        gradient.reset();
        continue;
      }
      if (gradient.requires_grad()) gradient = gradient.detach();
      gradient.zero_();
    }
  }
}

tensors::TorchValue Optimizer::state_dict() const {
  return optimizer_state_dict(*shared_->optimizer, shared_->fused, sharding());
}

std::function<void()> Optimizer::checked_state(const tensors::StoredValue& state) const {
  return checked_optimizer_state(*shared_->optimizer, state, shared_->sharding.get());
}

bool Optimizer::shard(const std::shared_ptr<parallel::Replicas>& replicas) const {
  auto& sharding = shared_->sharding;
  if (!sharding) {
    auto fresh = std::make_shared<OptimizerSharding>();
    if (!shared_->strategy->shard(fresh)) return false;
    sharding = std::move(fresh);
    get_logger("accelerate.train").info("ranks shard the step of an optimizer; zero_stage = 0 turns that off");
  }
  sharding->add(replicas, *shared_->optimizer);
  return true;
}

void Optimizer::share_gradients() const {
  if (shared_->sharding) shared_->sharding->share_gradients();
}

const OptimizerSharding* Optimizer::sharding() const {
  const auto& sharding = shared_->sharding;
  return sharding && sharding->is_on() ? sharding.get() : nullptr;
}

void Optimizer::unshard() const {
  if (shared_->sharding) shared_->sharding->end(*shared_->optimizer);
}

void Optimizer::set_step_strategy(std::unique_ptr<StepStrategy> strategy) {
  unshard();
  shared_->strategy = std::move(strategy);
}

}  // namespace accelerate::train
