#pragma once

// What the schedulers of lr_schedulers.h and LambdaLR share: Python's count of steps, its initial rates and its
// state_dict.

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include <torch/optim/schedulers/lr_scheduler.h>

#include "accelerate/tensors/torch_file.h"

namespace accelerate::lr_scheduler {

/// The learning rates that each group had before its first scheduler; Python's `initial_lr`. Schedulers of one
/// optimizer that live at the same time share them.
using InitialLrs = std::shared_ptr<const std::vector<double>>;
InitialLrs initial_lrs_of(torch::optim::Optimizer& optimizer, std::vector<double> current_lrs);

/// A scheduler with the steps of Python's: the constructor takes the first, so that the rates of epoch 0 hold from then
/// on, and step() goes on to epoch 1. Borrows the optimizer.
class LRScheduler : public torch::optim::LRScheduler {
 public:
  torch::optim::Optimizer& optimizer() const { return *optimizer_; }

  /// The steps taken since construction.
  int64_t last_epoch() const { return int64_t{step_count_} - 1; }

  std::vector<double> get_last_lr() const { return get_current_lrs(); }

  /// The keys of Python's state_dict, in Python's order.
  virtual tensors::TorchValue state_dict() const;

  /// Goes on from `state`, with its options; the current learning rates are part of the optimizer's. Throws Error, and
  /// changes nothing, when it is the state of another kind or of another number of groups.
  virtual void load_state_dict(const tensors::TorchValue& state);

 protected:
  explicit LRScheduler(torch::optim::Optimizer& optimizer);

  /// An attribute of Python's object, which is part of its state.
  struct Field {
    const char* name;
    std::variant<double*, int64_t*, std::map<int64_t, int64_t>*> value;
    int64_t minimum = 0;  // of an integer
  };

  /// Those of the class, in Python's order.
  virtual std::vector<Field> fields() { return {}; }

  /// Takes the first step; the last thing that the constructor of a class does. Throws Error for a field below its
  /// minimum.
  void start();

  /// The rates of epoch 0 when a SequentialLR comes to this scheduler; Python's `_get_closed_form_lr`.
  virtual std::vector<double> lrs_at_start() { return get_lrs(); }

  /// The epoch that get_lrs() computes the rates of.
  int64_t epoch() const { return step_count_; }

  const std::vector<double>& base_lrs() const { return *base_lrs_; }

  /// The current rates, each times `factor`.
  std::vector<double> scaled(double factor) const;

  /// The initial rates, each times `factor`.
  std::vector<double> scaled_base(double factor) const;

 private:
  friend class SequentialLR;

  /// Forgets all steps, without a change to the rates.
  void undo() { step_count_ = 0; }

  /// Goes on from epoch 0, with lrs_at_start().
  void restart();

  torch::optim::Optimizer* optimizer_;
  InitialLrs base_lrs_;
};

}  // namespace accelerate::lr_scheduler
