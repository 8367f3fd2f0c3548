#pragma once

// LambdaLR: the learning rate as a function of the step. libtorch has none.

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "accelerate/base/error.h"
#include "accelerate/train/lr_scheduler.h"

namespace accelerate::train {

/// Sets the learning rate of each group to its initial rate times `factor(step)`, as Python's LambdaLR: factor(0) upon
/// construction, factor(1) after the first step(). Borrows the optimizer.
class LambdaLR final : public lr_scheduler::LRScheduler {
 public:
  using Factor = std::function<double(int64_t step)>;

  LambdaLR(torch::optim::Optimizer& optimizer, Factor factor)
      : LambdaLR(optimizer, std::vector<Factor>(optimizer.param_groups().size(), std::move(factor))) {}

  /// One factor for each group of parameters.
  LambdaLR(torch::optim::Optimizer& optimizer, std::vector<Factor> factors)
      : LRScheduler(optimizer), factors_(std::move(factors)) {
    if (factors_.size() != base_lrs().size()) {
      fail("LambdaLR: ", factors_.size(), " functions for an optimizer with ", base_lrs().size(),
           " groups of parameters; give one for each, or one for all");
    }
    start();
  }

  tensors::TorchValue state_dict() const override {
    auto state = LRScheduler::state_dict();
    // Python keeps the attributes of callable objects here; a plain function has none.
    state.entries().emplace_back("lr_lambdas", tensors::TorchValue::list(tensors::TorchValue::Items(factors_.size())));
    return state;
  }

 private:
  std::vector<double> get_lrs() override {
    auto lrs = base_lrs();
    for (size_t i = 0; i < factors_.size(); ++i) lrs[i] *= factors_[i](epoch());
    return lrs;
  }

  std::vector<Factor> factors_;
};

}  // namespace accelerate::train

namespace accelerate {
using train::LambdaLR;
}
