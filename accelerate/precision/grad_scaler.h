#pragma once

// Dynamic loss scaling for fp16: keeps small gradients from underflowing, and skips steps whose gradients overflowed.

#include <cstdint>
#include <functional>
#include <unordered_map>

#include <ATen/core/Tensor.h>

namespace torch::optim {
class Optimizer;
}

namespace accelerate::precision {

struct GradScalerKwargs {
  double init_scale = 65536;
  double growth_factor = 2;
  double backoff_factor = 0.5;
  int64_t growth_interval = 2000;  // finite steps in a row before the scale grows
  bool enabled = true;             // false: the loss, the gradients and the step stay as they are
};

/// The state in a checkpoint: the fields of Python's GradScaler.
struct GradScalerState {
  double scale = 0;
  double growth_factor = 0;
  double backoff_factor = 0;
  int64_t growth_interval = 0;
  int64_t growth_tracker = 0;  // finite steps since the scale last changed
};

/// One iteration is scale(loss).backward(), unscale_() if gradients are inspected or clipped, step() of each optimizer,
/// update(). Nothing here is collective: ranks with averaged gradients find the same overflow.
class GradScaler {
 public:
  /// Throws Error unless growth_factor > 1 and backoff_factor < 1, if enabled.
  explicit GradScaler(GradScalerKwargs kwargs = {});

  /// Returns the loss times the scale.
  at::Tensor scale(const at::Tensor& loss);

  /// Divides the gradients of the optimizer's parameters by the scale they were computed with, in place. Throws Error
  /// if called twice in a step or after it. step() unscales if this was not called.
  void unscale_(torch::optim::Optimizer& optimizer);

  /// Calls `take_step` if all gradients of `optimizer` are finite. Returns whether it did.
  bool step(torch::optim::Optimizer& optimizer, const std::function<void()>& take_step);

  /// Adjusts the scale after the steps since the last update, and closes these steps. An optimizer that was unscaled
  /// but has not stepped stays open, so several optimizers can step and update in turn.
  void update();

  double get_scale() const;
  bool is_enabled() const { return kwargs_.enabled; }

  GradScalerState state() const;
  void load_state(const GradScalerState& state);

 private:
  enum class Stage { Unscaled, Stepped };
  struct Record {
    Stage stage = Stage::Unscaled;
    at::Tensor found_inf;
  };

  Record& unscaled(torch::optim::Optimizer& optimizer, const char* caller);

  GradScalerKwargs kwargs_;
  int64_t initial_growth_tracker_ = 0;
  at::Tensor scale_;       // these three are on the device of the first loss; undefined before
  at::Tensor used_scale_;  // the scale of the latest loss; update() does not change it
  at::Tensor growth_tracker_;
  std::unordered_map<torch::optim::Optimizer*, Record> records_;  // steps that update() has not closed
};

}  // namespace accelerate::precision

namespace accelerate {
using precision::GradScaler;
using precision::GradScalerKwargs;
}  // namespace accelerate
