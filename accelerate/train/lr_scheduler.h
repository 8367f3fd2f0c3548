#pragma once

// The base class of lr_schedulers.h and LambdaLR: Python's step count, initial rates and state_dict.

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include <torch/optim/schedulers/lr_scheduler.h>
#include <torch/optim/schedulers/reduce_on_plateau_scheduler.h>

#include "accelerate/base/error.h"
#include "accelerate/tensors/torch_file.h"

namespace accelerate::lr_scheduler {

/// The learning rate of each group before its first scheduler: Python's `initial_lr`. Schedulers of one optimizer share
/// them while any of them lives.
using InitialLrs = std::shared_ptr<const std::vector<double>>;
InitialLrs initial_lrs_of(torch::optim::Optimizer& optimizer, std::vector<double> current_lrs);

/// A scheduler that counts steps as Python does. The constructor takes the first step, which sets the rates of epoch 0;
/// step() continues with epoch 1. Borrows the optimizer.
class LRScheduler : public torch::optim::LRScheduler {
 public:
  torch::optim::Optimizer& optimizer() const { return *optimizer_; }

  /// The steps taken since construction.
  int64_t last_epoch() const { return int64_t{step_count_} - 1; }

  std::vector<double> get_last_lr() const { return get_current_lrs(); }

  /// The keys of Python's state_dict, in Python's order.
  virtual tensors::TorchValue state_dict() const;

  /// Resumes from `state`, including its options. Current learning rates are part of the optimizer's state. Throws
  /// Error, and changes nothing, if the state belongs to another class or another number of groups.
  virtual void load_state_dict(const tensors::TorchValue& state);

 protected:
  explicit LRScheduler(torch::optim::Optimizer& optimizer);

  /// An attribute of Python's object that is part of its state.
  struct Field {
    const char* name;
    std::variant<double*, int64_t*, std::map<int64_t, int64_t>*> value;
    int64_t minimum = 0;  // for integers
  };

  /// The fields of the class, in Python's order.
  virtual std::vector<Field> fields() { return {}; }

  /// Takes the first step. Every constructor calls it last. Throws Error for a field below its minimum.
  void start();

  /// The rates of epoch 0 when a SequentialLR switches to this scheduler: Python's `_get_closed_form_lr`.
  virtual std::vector<double> lrs_at_start() { return get_lrs(); }

  /// The epoch for which get_lrs() computes rates.
  int64_t epoch() const { return step_count_; }

  const std::vector<double>& base_lrs() const { return *base_lrs_; }

  /// The current rates times `factor`.
  std::vector<double> scaled(double factor) const;

  /// The initial rates times `factor`.
  std::vector<double> scaled_base(double factor) const;

 private:
  friend class SequentialLR;

  /// Resets the step count and leaves the rates unchanged.
  void undo() { step_count_ = 0; }

  /// Restarts at epoch 0 with lrs_at_start().
  void restart();

  torch::optim::Optimizer* optimizer_;
  InitialLrs base_lrs_;
};

}  // namespace accelerate::lr_scheduler

namespace accelerate::train {

/// {"last_epoch": ..., "_step_count": ..., "_last_lr": ...}.
tensors::TorchValue lr_scheduler_state_dict(const torch::optim::LRScheduler& scheduler);

/// Resumes from `state`. Throws Error, and changes nothing, if it is not the state of such a scheduler.
void load_lr_scheduler_state(torch::optim::LRScheduler& scheduler, const tensors::TorchValue& state);

/// Takes the step that Python's StepLR takes in its constructor, if a torch::optim::StepLR has not been stepped yet.
/// Otherwise libtorch's would decay one step later. Ignores other classes, which may count differently.
void start_as_python(torch::optim::LRScheduler& scheduler);

/// The current learning rate of each group of parameters of its optimizer.
std::vector<double> learning_rates(const torch::optim::LRScheduler& scheduler);

/// Whether `scheduler` sets the rates of `optimizer`. Changes the rate of its first group for a moment, so ask once,
/// while nothing trains.
bool sets_rates_of(const torch::optim::LRScheduler& scheduler, torch::optim::Optimizer& optimizer);

/// The mutable state under the keys of Python's ReduceLROnPlateau: "best", "num_bad_epochs", "cooldown_counter" and
/// "last_epoch". The learning rates are part of the optimizer's state.
tensors::TorchValue plateau_state_dict(const torch::optim::ReduceLROnPlateauScheduler& scheduler);

/// Resumes from `state`, which may be Python's, and keeps the scheduler's own options. Throws Error, and changes
/// nothing, if the state belongs to another class.
void load_plateau_state(torch::optim::ReduceLROnPlateauScheduler& scheduler, const tensors::TorchValue& state);

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
