#include "accelerate/precision/grad_scaler.h"

#include <algorithm>
#include <vector>

#include <ATen/ATen.h>
#include <torch/optim/optimizer.h>

#include "accelerate/base/error.h"
#include "accelerate/tensors/foreach_groups.h"

namespace accelerate::precision {
namespace {

void check_factors(double growth_factor, double backoff_factor) {
  if (growth_factor <= 1) fail("GradScaler: growth_factor is ", growth_factor, "; it must be greater than 1");
  if (backoff_factor >= 1) fail("GradScaler: backoff_factor is ", backoff_factor, "; it must be less than 1");
}

std::vector<at::Tensor> gradients_to_unscale(torch::optim::Optimizer& optimizer) {
  std::vector<at::Tensor> gradients;
  for (auto& group : optimizer.param_groups()) {
    for (auto& parameter : group.params()) {
      const auto& gradient = parameter.grad();
      if (!gradient.defined()) continue;
      if (gradient.scalar_type() == at::kHalf) {
        fail("GradScaler cannot unscale the fp16 gradient of a parameter of shape ", parameter.sizes(),
             ": dividing in fp16 loses the precision that scaling preserved. Keep the parameters in float32 "
             "(module->to(torch::kFloat)) and let autocast compute in fp16");
      }
      gradients.push_back(gradient.is_sparse() ? gradient._values() : gradient);
    }
  }
  return gradients;
}

}  // namespace

GradScaler::GradScaler(GradScalerKwargs kwargs) : kwargs_(kwargs) {
  if (kwargs_.enabled) check_factors(kwargs_.growth_factor, kwargs_.backoff_factor);
}

at::Tensor GradScaler::scale(const at::Tensor& loss) {
  if (!kwargs_.enabled) return loss;
  if (!scale_.defined()) {
    scale_ = at::full({}, kwargs_.init_scale, loss.options().dtype(at::kFloat).requires_grad(false));
    growth_tracker_ = at::full({}, initial_growth_tracker_, scale_.options().dtype(at::kInt));
  }
  used_scale_ = scale_;
  return loss * scale_.to(loss.device(), /*non_blocking=*/true);
}

void GradScaler::unscale_(torch::optim::Optimizer& optimizer) {
  if (!kwargs_.enabled) return;
  if (auto record = records_.find(&optimizer); record != records_.end()) {
    fail("GradScaler::unscale_ was called ", record->second.stage == Stage::Unscaled
                                                 ? "twice in one step; clip or unscale once before each step"
                                                 : "after the step; call it before optimizer.step()");
  }
  unscaled(optimizer, "unscale_");
}

bool GradScaler::step(torch::optim::Optimizer& optimizer, const std::function<void()>& take_step) {
  if (!kwargs_.enabled) {
    take_step();
    return true;
  }
  auto& record = unscaled(optimizer, "step");
  if (record.stage == Stage::Stepped) fail("GradScaler::step was called twice for one optimizer without update()");
  record.stage = Stage::Stepped;
  if (record.found_inf.item<float>() != 0) return false;
  take_step();
  return true;
}

void GradScaler::update() {
  if (!kwargs_.enabled) return;
  if (records_.empty()) fail("GradScaler::update without a step since the last update; call step() first");
  const bool any_stepped =
      std::any_of(records_.begin(), records_.end(), [](auto& entry) { return entry.second.stage == Stage::Stepped; });
  at::Tensor found_inf;
  std::erase_if(records_, [&](auto& entry) {
    if (any_stepped && entry.second.stage != Stage::Stepped) return false;
    found_inf = found_inf.defined() ? found_inf + entry.second.found_inf : entry.second.found_inf;
    return true;
  });
  // A new tensor: an optimizer that has not stepped still divides by the scale of its loss.
  scale_ = scale_.clone();
  at::_amp_update_scale_(scale_, growth_tracker_, found_inf, kwargs_.growth_factor, kwargs_.backoff_factor,
                         kwargs_.growth_interval);
}

double GradScaler::get_scale() const {
  if (!kwargs_.enabled) return 1;
  return scale_.defined() ? scale_.item<float>() : kwargs_.init_scale;
}

GradScalerState GradScaler::state() const {
  return {get_scale(), kwargs_.growth_factor, kwargs_.backoff_factor, kwargs_.growth_interval,
          growth_tracker_.defined() ? growth_tracker_.item<int>() : initial_growth_tracker_};
}

void GradScaler::load_state(const GradScalerState& state) {
  if (!kwargs_.enabled) return;
  check_factors(state.growth_factor, state.backoff_factor);
  kwargs_.init_scale = state.scale;
  kwargs_.growth_factor = state.growth_factor;
  kwargs_.backoff_factor = state.backoff_factor;
  kwargs_.growth_interval = state.growth_interval;
  initial_growth_tracker_ = state.growth_tracker;
  // The next scale() recreates them from these values.
  scale_.reset();
  growth_tracker_.reset();
  records_.clear();
}

// Returns the record of the optimizer's open step. Opening it unscales the gradients and checks for infinities and
// NaNs.
GradScaler::Record& GradScaler::unscaled(torch::optim::Optimizer& optimizer, const char* caller) {
  if (auto record = records_.find(&optimizer); record != records_.end()) return record->second;
  if (!used_scale_.defined()) {
    fail("GradScaler::", caller, " was called before any loss was scaled; call accelerator.backward(loss) first");
  }
  at::NoGradGuard no_grad;
  // In double, because the reciprocal of a float scale is not always a float.
  const auto inverse_scale = used_scale_.to(at::kDouble).reciprocal().to(at::kFloat);
  auto found_inf = at::zeros({}, inverse_scale.options());
  for (auto& gradients : tensors::foreach_groups(gradients_to_unscale(optimizer))) {
    const auto device = gradients.front().device();
    auto found_here = device == found_inf.device() ? found_inf : at::zeros({}, found_inf.options().device(device));
    at::_amp_foreach_non_finite_check_and_unscale_(gradients, found_here, inverse_scale.to(device));
    if (device != found_inf.device()) found_inf += found_here.to(found_inf.device());
  }
  return records_[&optimizer] = {Stage::Unscaled, found_inf};
}

}  // namespace accelerate::precision
