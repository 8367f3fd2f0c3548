#pragma once

// A learning rate given by a function of the step, which libtorch's schedulers lack.

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include <torch/optim/schedulers/lr_scheduler.h>

#include "accelerate/base/error.h"

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
