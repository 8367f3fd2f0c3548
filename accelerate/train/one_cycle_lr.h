#pragma once

// Python's OneCycleLR: learning rates rise to a maximum, then decay far below their start. Momentum moves inversely.

#include <cstdint>
#include <string>
#include <vector>

#include "accelerate/train/lr_scheduler.h"

namespace accelerate::lr_scheduler {

struct OneCycleLROptions {
  std::vector<double> max_lr = {};  // one per parameter group, or one for all; required
  int64_t total_steps = 0;          // required, unless both of the next are given
  int64_t epochs = 0;
  int64_t steps_per_epoch = 0;
  double pct_start = 0.3;               // the fraction of steps in which the rates rise
  std::string anneal_strategy = "cos";  // or "linear"
  bool cycle_momentum = true;           // the momentum of SGD and RMSprop, beta1 of Adam and AdamW
  double base_momentum = 0.85;          // when the rates are at their maximum
  double max_momentum = 0.95;
  double div_factor = 25;         // the initial rate is max_lr / div_factor
  double final_div_factor = 1e4;  // the final rate is the initial one / final_div_factor
  bool three_phase = false;       // decay to the initial rates as fast as they rose, then to the final ones
};

/// Sets the rates of every step of a run. The optimizer may have no other scheduler. Throws Error for invalid options,
/// for an optimizer without momentum if `cycle_momentum` is on, and in the step after `total_steps`.
class OneCycleLR final : public LRScheduler {
 public:
  OneCycleLR(torch::optim::Optimizer& optimizer, const OneCycleLROptions& options);

  tensors::TorchValue state_dict() const override;

  /// See the base class. The minima and maxima of the rates come from the constructor: Python stores them in the
  /// optimizer's parameter groups.
  void load_state_dict(const tensors::TorchValue& state) override;

 private:
  enum class Point { Initial, Max, Min };  // of the rates; each has a momentum
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
