#pragma once

// Python's OneCycleLR: learning rates rise to a maximum and fall far below where they began, while momentum goes the
// other way.

#include <cstdint>
#include <string>
#include <vector>

#include "accelerate/train/lr_scheduler.h"

namespace accelerate::lr_scheduler {

struct OneCycleLROptions {
  std::vector<double> max_lr = {};  // one for each group of parameters, or one for all; has to be given
  int64_t total_steps = 0;          // has to be given, or both of the next
  int64_t epochs = 0;
  int64_t steps_per_epoch = 0;
  double pct_start = 0.3;               // the part of the steps in which the rates rise
  std::string anneal_strategy = "cos";  // or "linear"
  bool cycle_momentum = true;           // that of SGD and RMSprop, the first beta of Adam and AdamW
  double base_momentum = 0.85;          // where the rates are at their maximum
  double max_momentum = 0.95;
  double div_factor = 25;         // the rates begin at max_lr divided by it
  double final_div_factor = 1e4;  // and end at that divided by it
  bool three_phase = false;       // fall to the first rates as fast as they rose, then to the last
};

/// Sets the rates of every step of a training. The optimizer may have no other scheduler. Throws Error for options that
/// make no schedule, for an optimizer without momentum if that is to change, and in the step after `total_steps`.
class OneCycleLR final : public LRScheduler {
 public:
  OneCycleLR(torch::optim::Optimizer& optimizer, const OneCycleLROptions& options);

  tensors::TorchValue state_dict() const override;

  /// As that of the base class. Where the rates go between comes from the constructor: Python has it in the groups of
  /// the optimizer.
  void load_state_dict(const tensors::TorchValue& state) override;

 private:
  enum class Point { Initial, Max, Min };  // of the rates; momentum belongs to each
  struct Phase {
    double end_step;
    Point start, end;
  };

  std::vector<double> get_lrs() override;
  double lr_at(Point point, size_t group) const;
  double momentum_at(Point point) const;
  double between(double start, double end, double part) const;
  static Phase phase_in(const tensors::TorchValue& value);
  static tensors::TorchValue value_of(const Phase& phase, bool is_last);

  OneCycleLROptions options_;
  std::vector<Phase> phases_;
};

}  // namespace accelerate::lr_scheduler
