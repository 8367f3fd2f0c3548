#pragma once

// The base class of lr_schedulers.h and LambdaLR: Python's step count, initial rates and state_dict.

#include <cstdint>
#include <map>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include <torch/optim/schedulers/lr_scheduler.h>

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
