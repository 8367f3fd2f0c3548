#pragma once

// The prepared optimizer: steps when an accumulation window ends, by the fastest kernel available, and skips steps
// whose fp16 gradients overflowed.

#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <torch/optim/optimizer.h>

#include "accelerate/precision/grad_scaler.h"
#include "accelerate/tensors/torch_file.h"
#include "accelerate/train/gradient_state.h"

namespace accelerate::sharding {
class OptimizerSharding;
}

namespace accelerate::train {

class StepStrategy;

/// Computes the loss and its gradients.
using LossClosure = std::function<at::Tensor()>;

struct OptimizerOptions {
  bool fused = true;  // one kernel for all parameters, as Python's `fused=True`; off: Python's default arithmetic
};

/// A handle on a torch optimizer; copies refer to the same one. Use `->` to reach torch's options and state.
class Optimizer {
 public:
  /// Borrows `optimizer`, which must outlive all handles on it, including the one that an Accelerator keeps until
  /// free_memory(). Moves its state to the devices of its parameters.
  explicit Optimizer(torch::optim::Optimizer& optimizer,
                     std::shared_ptr<GradientState> gradient_state = std::make_shared<GradientState>(),
                     std::shared_ptr<precision::GradScaler> scaler = nullptr, OptimizerOptions options = {});

  /// Shares ownership of `optimizer`.
  explicit Optimizer(std::shared_ptr<torch::optim::Optimizer> optimizer,
                     std::shared_ptr<GradientState> gradient_state = std::make_shared<GradientState>(),
                     std::shared_ptr<precision::GradScaler> scaler = nullptr, OptimizerOptions options = {});

  /// Updates the parameters by their gradients. Does nothing inside an accumulation window. With a scaler, unscales
  /// gradients first and skips the step if any is not finite.
  void step();

  /// The same with `closure` to compute loss and gradients; LBFGS calls it several times. Returns the loss, or an
  /// undefined tensor inside a window. Throws Error with an enabled scaler, which would have to unscale in between.
  at::Tensor step(const LossClosure& closure);

  /// Drops the gradients, or zeroes them if `set_to_none` is off. Does nothing inside an accumulation window.
  void zero_grad(bool set_to_none = true);

  /// Whether the scaler skipped the latest step.
  bool step_was_skipped() const { return shared_->step_was_skipped; }

  /// The learning rate of the first parameter group.
  double learning_rate() const { return param_groups().front().options().get_lr(); }

  std::vector<torch::optim::OptimizerParamGroup>& param_groups() const { return shared_->optimizer->param_groups(); }
  auto& state() const { return shared_->optimizer->state(); }

  /// Python's state_dict, sharing memory with the optimizer; see optimizer_state_dict.h. If each rank keeps its shard
  /// of the state, gathers copies of the whole; collective then.
  tensors::TorchValue state_dict() const;

  /// Checks that `state` fits and returns a function that loads it; nothing changes until it is called. The function is
  /// collective if the step is sharded. Throws Error if `state` does not fit.
  [[nodiscard]] std::function<void()> checked_state(const tensors::StoredValue& state) const;

  /// Loads `state`. Throws Error, and changes nothing, if it does not fit. Collective if the step is sharded: all ranks
  /// load the same state.
  void load_state_dict(const tensors::TorchValue& state) { checked_state(tensors::stored(state))(); }

  torch::optim::Optimizer& operator*() const { return *shared_->optimizer; }
  torch::optim::Optimizer* operator->() const { return shared_->optimizer.get(); }

  /// Whether ranks step shards of the parameters (`zero_stage`). step() is collective then.
  bool is_sharded() const;

 private:
  friend class WeakOptimizer;
  friend struct OptimizerAccess;

  struct Shared {
    explicit Shared(std::shared_ptr<torch::optim::Optimizer> optimizer);
    ~Shared();

    std::shared_ptr<torch::optim::Optimizer> optimizer;
    std::shared_ptr<GradientState> gradient_state;
    std::shared_ptr<precision::GradScaler> scaler;
    std::unique_ptr<StepStrategy> strategy;
    std::unique_ptr<sharding::OptimizerSharding> sharding;  // null before the step is sharded
    bool fused = true;
    bool step_was_skipped = false;
  };

  explicit Optimizer(std::shared_ptr<Shared> shared) : shared_(std::move(shared)) {}

  std::shared_ptr<Shared> shared_;
};

/// Gives every rank the whole state of a sharded optimizer. From then on each rank steps all parameters, permanently.
/// Collective if the step is sharded.
void unshard(const Optimizer& optimizer);

/// A weak reference to the handle of an optimizer.
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
using train::unshard;
}  // namespace accelerate
