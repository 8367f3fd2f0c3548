#pragma once

// The ways in which a prepared optimizer can take its step. One is chosen when the handle is built.

#include <functional>
#include <memory>

#include <ATen/core/Tensor.h>

namespace torch::optim {
class Optimizer;
}

namespace accelerate::train {

class OptimizerSharding;

using LossClosure = std::function<at::Tensor()>;

/// Changes the parameters of an optimizer by their gradients. Replaces torch's own step() of the same optimizer, whose
/// options and state it uses.
class StepStrategy {
 public:
  virtual ~StepStrategy() = default;

  virtual void step(torch::optim::Optimizer& optimizer) = 0;

  /// Computes loss and gradients by `closure`, then steps. Returns the loss.
  virtual at::Tensor step(torch::optim::Optimizer& optimizer, const LossClosure& closure);

  /// From now on parameters that `sharding` names are stepped by all ranks together; step() is collective then. False
  /// where this strategy cannot.
  virtual bool shard(std::shared_ptr<OptimizerSharding> sharding) { return false; }
};

/// The strategy for torch's Adam, AdamW and SGD: one fused kernel for all parameters, equal to Python's `fused=True` to
/// the bit; or, with `fused` off, the operations of optimizer_rules.h, equal to Python's default. RMSprop, which has no
/// fused kernel, takes the latter. Any other optimizer, classes derived from these included, takes its own step.
std::unique_ptr<StepStrategy> choose_step_strategy(const torch::optim::Optimizer& optimizer, bool fused);

}  // namespace accelerate::train
