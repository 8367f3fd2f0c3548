#pragma once

// A learning rate given by a function of the step, which libtorch's schedulers lack.

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <torch/optim/schedulers/lr_scheduler.h>

#include "accelerate/base/error.h"
#include "accelerate/train/lr_scheduler_state.h"

namespace accelerate::train {

/// Sets the learning rate of each group to its initial one times `factor(step)`, as Python's LambdaLR: factor(0) from
/// construction on, factor(1) after the first step(). Borrows the optimizer.
class LambdaLR final : public torch::optim::LRScheduler {
 public:
  using Factor = std::function<double(int64_t step)>;

  LambdaLR(torch::optim::Optimizer& optimizer, Factor factor)
      : LambdaLR(optimizer, std::vector<Factor>(optimizer.param_groups().size(), std::move(factor))) {}

  /// One factor for each group of parameters.
  LambdaLR(torch::optim::Optimizer& optimizer, std::vector<Factor> factors)
      : LRScheduler(optimizer), factors_(std::move(factors)), initial_lrs_(get_current_lrs()) {
    if (factors_.size() != initial_lrs_.size()) {
      fail("LambdaLR: ", factors_.size(), " functions for an optimizer with ", initial_lrs_.size(),
           " groups of parameters; give one for each, or one for all");
    }
    step();
  }

  /// The steps taken since construction.
  int64_t last_epoch() const { return step_count_ - 1; }

  std::vector<double> get_last_lr() const { return get_current_lrs(); }

  /// The keys of Python's state_dict.
  tensors::TorchValue state_dict() const {
    auto state = lr_scheduler_state_dict(*this);
    auto& entries = state.entries();
    entries.emplace(entries.begin(), "base_lrs", tensors::TorchValue::list({initial_lrs_.begin(), initial_lrs_.end()}));
    // Python keeps the attributes of callable objects here; a plain function has none.
    entries.emplace_back("lr_lambdas", tensors::TorchValue::list(tensors::TorchValue::Items(factors_.size())));
    return state;
  }

  /// Goes on from `state`; the current learning rates are part of the optimizer's. Throws Error, and changes nothing,
  /// when it is the state of another kind or of another number of groups.
  void load_state_dict(const tensors::TorchValue& state) {
    const auto& base_lrs = state.at("base_lrs").items();
    if (base_lrs.size() != initial_lrs_.size()) {
      fail("LambdaLR: the state has 'base_lrs' for ", base_lrs.size(), " groups of parameters; the optimizer has ",
           initial_lrs_.size());
    }
    std::vector<double> initial_lrs;
    for (const auto& lr : base_lrs) initial_lrs.push_back(lr.number());
    load_lr_scheduler_state(*this, state);
    initial_lrs_ = std::move(initial_lrs);
  }

 private:
  std::vector<double> get_lrs() override {
    std::vector<double> lrs;
    for (size_t i = 0; i < factors_.size(); ++i) lrs.push_back(initial_lrs_[i] * factors_[i](step_count_));
    return lrs;
  }

  std::vector<Factor> factors_;
  std::vector<double> initial_lrs_;
};

}  // namespace accelerate::train

namespace accelerate {
using train::LambdaLR;
}
