#include "accelerate/train/optimizer.h"

#include <ATen/ATen.h>

#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/sharding/optimizer_sharding.h"
#include "accelerate/tensors/distinct_tensors.h"
#include "accelerate/train/optimizer_access.h"
#include "accelerate/train/optimizer_state.h"
#include "accelerate/train/optimizer_state_dict.h"
#include "accelerate/train/optimizer_step.h"

namespace accelerate::train {

Optimizer::Shared::Shared(std::shared_ptr<torch::optim::Optimizer> optimizer) : optimizer(std::move(optimizer)) {}
Optimizer::Shared::~Shared() = default;

Optimizer::Optimizer(torch::optim::Optimizer& optimizer, std::shared_ptr<GradientState> gradient_state,
                     std::shared_ptr<precision::GradScaler> scaler, OptimizerOptions options)
    : Optimizer(std::shared_ptr<torch::optim::Optimizer>(std::shared_ptr<void>(), &optimizer),
                std::move(gradient_state), std::move(scaler), options) {}

Optimizer::Optimizer(std::shared_ptr<torch::optim::Optimizer> optimizer, std::shared_ptr<GradientState> gradient_state,
                     std::shared_ptr<precision::GradScaler> scaler, OptimizerOptions options)
    : shared_(std::make_shared<Shared>(std::move(optimizer))) {
  shared_->gradient_state = std::move(gradient_state);
  shared_->scaler = std::move(scaler);
  shared_->strategy = choose_step_strategy(*shared_->optimizer, options.fused);
  shared_->fused = options.fused;
  for (auto& group : param_groups()) group.params() = tensors::distinct_tensors(group.params());
  move_state_to_parameters(*shared_->optimizer);
}

void Optimizer::step() {
  if (!shared_->gradient_state->sync_gradients) return;
  auto& optimizer = *shared_->optimizer;
  const auto step = [&] { shared_->strategy->step(optimizer, shared_->sharding.get()); };
  if (!shared_->scaler) return step();
  const bool stepped = shared_->scaler->step(optimizer, step);
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
  return shared_->strategy->step(*shared_->optimizer, shared_->sharding.get(), closure);
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
  return optimizer_state_dict(*shared_->optimizer, shared_->fused, OptimizerAccess::sharding(*this));
}

std::function<void()> Optimizer::checked_state(const tensors::StoredValue& state) const {
  return checked_optimizer_state(*shared_->optimizer, state, shared_->sharding.get());
}

bool Optimizer::is_sharded() const { return OptimizerAccess::sharding(*this) != nullptr; }

void unshard(const Optimizer& optimizer) {
  if (auto* sharding = OptimizerAccess::sharding(optimizer)) sharding->end();
}

bool OptimizerAccess::shard(const Optimizer& optimizer, const std::shared_ptr<parallel::Replicas>& replicas) {
  auto& shared = *optimizer.shared_;
  if (!shared.strategy->can_shard()) return false;
  if (!shared.sharding) {
    shared.sharding = std::make_unique<sharding::OptimizerSharding>(*shared.optimizer, for_each_state_tensor);
    get_logger("accelerate.train").info("ranks shard the step of an optimizer; zero_stage = 0 turns that off");
  }
  shared.sharding->add(replicas);
  return true;
}

void OptimizerAccess::shard_gradients(const Optimizer& optimizer) {
  if (auto* sharding = OptimizerAccess::sharding(optimizer)) sharding->shard_gradients();
}

sharding::OptimizerSharding* OptimizerAccess::sharding(const Optimizer& optimizer) {
  const auto& sharding = optimizer.shared_->sharding;
  return sharding && sharding->is_active() ? sharding.get() : nullptr;
}

}  // namespace accelerate::train
