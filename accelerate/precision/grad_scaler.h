#pragma once

// Loss scaling for fp16: small gradients are lifted into its range, and a step whose gradients overflowed is left out.

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
  int64_t growth_interval = 2000;  // this many finite steps in a row let the scale grow
  bool enabled = true;             // false: the loss, the gradients and the step stay as they are
};

/// What a checkpoint keeps; the fields of Python's GradScaler.
struct GradScalerState {
  double scale = 0;
  double growth_factor = 0;
  double backoff_factor = 0;
  int64_t growth_interval = 0;
  int64_t growth_tracker = 0;  // finite steps since the scale last changed
};

/// One iteration is scale(loss).backward(), unscale_() where gradients are looked at, step() of each optimizer,
/// update(). Ranks whose gradients are averaged find the same overflow, so nothing here talks to other ranks.
class GradScaler {
 public:
  /// Throws Error unless growth_factor > 1 and backoff_factor < 1.
  explicit GradScaler(GradScalerKwargs kwargs = {});

  /// The loss times the scale.
  at::Tensor scale(const at::Tensor& loss);

  /// Divides the gradients of the optimizer's parameters by the scale they were computed with, in place. At most once
  /// per step; step() does it where nobody did.
  void unscale_(torch::optim::Optimizer& optimizer);

  /// Calls `take_step` if all gradients of `optimizer` are finite, and returns whether it did.
  bool step(torch::optim::Optimizer& optimizer, const std::function<void()>& take_step);

  /// Adapts the scale to what the steps since the last update found, and closes these steps. An optimizer that was
  /// unscaled but has yet to step stays open, so that several may each step and update in turn.
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
  at::Tensor scale_;       // these three live on the device of the first loss, undefined until then
  at::Tensor used_scale_;  // the scale of the latest loss, which update() leaves alone
  at::Tensor growth_tracker_;
  std::unordered_map<torch::optim::Optimizer*, Record> records_;  // of the steps that update() has not closed
};

}  // namespace accelerate::precision

namespace accelerate {
using precision::GradScaler;
using precision::GradScalerKwargs;
}  // namespace accelerate
