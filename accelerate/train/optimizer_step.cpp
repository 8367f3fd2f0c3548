#include "accelerate/train/optimizer_step.h"

#include <typeinfo>

#include <ATen/ATen.h>

#include "accelerate/train/fused_step.h"
#include "accelerate/train/optimizer_rules.h"

namespace accelerate::train {
namespace {

class OwnStep : public StepStrategy {
 public:
  void step(torch::optim::Optimizer& optimizer, sharding::OptimizerSharding*) override { optimizer.step(); }
  at::Tensor step(torch::optim::Optimizer& optimizer, sharding::OptimizerSharding*,
                  const std::function<at::Tensor()>& closure) override {
    return optimizer.step(closure);
  }
};

template <class Rule>
class LoopStep : public StepStrategy {
 public:
  using StepStrategy::step;

  void step(torch::optim::Optimizer& optimizer, sharding::OptimizerSharding*) override {
    at::NoGradGuard no_grad;
    for (auto& group : optimizer.param_groups()) {
      const auto& options = static_cast<const typename Rule::Options&>(group.options());
      for (const auto& parameter : group.params()) {
        if (parameter.grad().defined()) Rule::update(optimizer, parameter, options);
      }
    }
  }
};

}  // namespace

at::Tensor StepStrategy::step(torch::optim::Optimizer& optimizer, sharding::OptimizerSharding* sharding,
                              const std::function<at::Tensor()>& closure) {
  at::Tensor loss;
  {
    at::AutoGradMode with_grad(true);
    loss = closure();
  }
  step(optimizer, sharding);
  return loss;
}

std::unique_ptr<StepStrategy> choose_step_strategy(const torch::optim::Optimizer& optimizer, bool fused) {
  const auto& type = typeid(optimizer);
  if (type == typeid(torch::optim::AdamW)) {
    return fused ? make_fused_adamw_step() : std::make_unique<LoopStep<AdamWRule>>();
  }
  if (type == typeid(torch::optim::Adam)) {
    return fused ? make_fused_adam_step() : std::make_unique<LoopStep<AdamOriginalRule>>();
  }
  if (type == typeid(torch::optim::SGD)) {
    return fused ? make_fused_sgd_step() : std::make_unique<LoopStep<SgdRule>>();
  }
  if (type == typeid(torch::optim::RMSprop)) return std::make_unique<LoopStep<RmspropRule>>();
  return std::make_unique<OwnStep>();
}

}  // namespace accelerate::train
