#pragma once

// The strategies for the step of a prepared optimizer. One is chosen when the handle is constructed.

#include <functional>
#include <memory>

#include <ATen/core/Tensor.h>

namespace torch::optim {
class Optimizer;
}

namespace accelerate::sharding {
class OptimizerSharding;
}

namespace accelerate::train {

/// Updates the parameters of an optimizer by their gradients. Replaces torch's own step() and uses its options and
/// state.
class StepStrategy {
 public:
  virtual ~StepStrategy() = default;

  /// Steps the parameters of `sharding` in shards; collective then. It is null unless can_shard().
  virtual void step(torch::optim::Optimizer& optimizer, sharding::OptimizerSharding* sharding) = 0;

  /// Computes loss and gradients by `closure`, then steps. Returns the loss.
  virtual at::Tensor step(torch::optim::Optimizer& optimizer, sharding::OptimizerSharding* sharding,
                          const std::function<at::Tensor()>& closure);

  virtual bool can_shard() const { return false; }
};

/// The strategy for an optimizer. For torch's Adam, AdamW and SGD: one fused kernel for all parameters, bit-identical
/// to Python's `fused=True`; with `fused` off, the operations of optimizer_rules.h, bit-identical to Python's default.
/// RMSprop has no fused kernel and always takes the latter. Any other optimizer, including classes derived from these,
/// uses its own step().
std::unique_ptr<StepStrategy> choose_step_strategy(const torch::optim::Optimizer& optimizer, bool fused);

}  // namespace accelerate::train
