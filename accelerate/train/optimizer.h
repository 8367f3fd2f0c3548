#pragma once

// The prepared optimizer: it steps when a window of gradient accumulation ends, in the fastest way there is, and leaves
// out the steps whose fp16 gradients overflowed.

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <torch/optim/optimizer.h>

#include "accelerate/precision/grad_scaler.h"
#include "accelerate/tensors/torch_file.h"
#include "accelerate/train/gradient_state.h"
#include "accelerate/train/optimizer_step.h"

namespace accelerate::parallel {
class Replicas;
}

namespace accelerate::train {

class OptimizerSharding;

struct OptimizerOptions {
  bool fused = true;  // one kernel for all parameters, Python's `fused=True`; off, the arithmetic of Python's default
};

/// A handle on a torch optimizer; copies refer to the same one. Options and state are torch's own, reached by `->`.
class Optimizer {
 public:
  /// Borrows `optimizer`, which has to outlive the handle. Its state moves to the devices of its parameters.
  explicit Optimizer(torch::optim::Optimizer& optimizer,
                     std::shared_ptr<GradientState> gradient_state = std::make_shared<GradientState>(),
                     std::shared_ptr<precision::GradScaler> scaler = nullptr, OptimizerOptions options = {});

  /// Owns `optimizer`, with whoever else does.
  explicit Optimizer(std::shared_ptr<torch::optim::Optimizer> optimizer,
                     std::shared_ptr<GradientState> gradient_state = std::make_shared<GradientState>(),
                     std::shared_ptr<precision::GradScaler> scaler = nullptr, OptimizerOptions options = {});

  /// Changes the parameters by their gradients. Does nothing inside a window of accumulation. With a scaler, gradients
  /// are unscaled first, and the step is skipped where one is not finite.
  void step();

  /// The same after computing loss and gradients by `closure`, which LBFGS calls several times. Returns the loss, or an
  /// undefined tensor inside a window. Throws Error with an enabled scaler, which would have to unscale in between.
  at::Tensor step(const LossClosure& closure);

  /// Drops the gradients, or with `set_to_none` off fills them with zeros. Does nothing inside a window of
  /// accumulation.
  void zero_grad(bool set_to_none = true);

  /// Whether the scaler left out the latest step.
  bool step_was_skipped() const { return shared_->step_was_skipped; }

  /// The learning rate of the first group of parameters.
  double learning_rate() const { return param_groups().front().options().get_lr(); }

  std::vector<torch::optim::OptimizerParamGroup>& param_groups() const { return shared_->optimizer->param_groups(); }
  auto& state() const { return shared_->optimizer->state(); }

  /// Python's state_dict, sharing memory with the optimizer: see optimizer_state_dict.h. State of which each rank keeps
  /// its share is gathered, as copies; collective then.
  tensors::TorchValue state_dict() const;

  /// Checks that `state` fits and returns what puts it there, which is collective where ranks share the step; nothing
  /// changes before. Throws Error when it does not fit.
  [[nodiscard]] std::function<void()> checked_state(const tensors::StoredValue& state) const;

  /// Takes over `state`. Throws Error, and changes nothing, when it does not fit. Collective where ranks share the
  /// step: all of them load the same.
  void load_state_dict(const tensors::TorchValue& state) { checked_state(tensors::stored(state))(); }

  torch::optim::Optimizer& operator*() const { return *shared_->optimizer; }
  torch::optim::Optimizer* operator->() const { return shared_->optimizer.get(); }

  /// Steps the parameters that `replicas` keeps the same on several ranks together with them: each rank steps its share
  /// and hands it to the others. Results are the same to the bit, and step() is collective from here on. The state of
  /// Adam and AdamW is one copy in memory that all ranks of a machine see, where they can have that; else a rank keeps
  /// that of its share, `state()` shows just this, and state_dict() is collective. Returns false, and changes nothing,
  /// where the optimizer has no fused step. A step on gradients that were not averaged ends it, as unshard() does.
  bool shard(const std::shared_ptr<parallel::Replicas>& replicas) const;

  /// Ranks that share the step keep their share of averaged gradients only, from now on.
  void share_gradients() const;

  /// Gives every rank a whole state of its own; each steps all parameters from now on, for good. Collective if the step
  /// is shared.
  void unshard() const;

  /// How the ranks divide the step; null where they do not, or no longer.
  const OptimizerSharding* sharding() const;

  /// Whether torch's optimizer is there for sure: handles own it, or this is not the last one of those that it has to
  /// outlive.
  bool is_there() const { return shared_->optimizer.use_count() > 0 || shared_.use_count() > 1; }

  /// Steps by `strategy` from now on. Collective if it is sharded.
  void set_step_strategy(std::unique_ptr<StepStrategy> strategy);

 private:
  friend class WeakOptimizer;

  struct Shared {
    std::shared_ptr<torch::optim::Optimizer> optimizer;
    std::shared_ptr<GradientState> gradient_state;
    std::shared_ptr<precision::GradScaler> scaler;
    std::unique_ptr<StepStrategy> strategy;
    std::shared_ptr<OptimizerSharding> sharding;
    bool fused = true;
    bool step_was_skipped = false;
  };

  explicit Optimizer(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  std::shared_ptr<Shared> shared_;
};

/// Finds the handle on an optimizer for as long as there is one.
class WeakOptimizer {
 public:
  explicit WeakOptimizer(const Optimizer& optimizer) : shared_(optimizer.shared_) {}

  std::optional<Optimizer> lock() const {
    auto shared = shared_.lock();
    return shared ? std::optional(Optimizer(std::move(shared))) : std::nullopt;
  }

 private:
  std::weak_ptr<Optimizer::Shared> shared_;
};

}  // namespace accelerate::train

namespace accelerate {
using train::Optimizer;
using train::OptimizerOptions;
}  // namespace accelerate
