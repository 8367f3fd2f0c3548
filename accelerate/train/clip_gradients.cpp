#include "accelerate/train/clip_gradients.h"

#include <ATen/ATen.h>

#include "accelerate/tensors/foreach_groups.h"

namespace accelerate::train {
namespace {

std::vector<std::vector<at::Tensor>> gradient_groups(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> gradients;
  for (const auto& parameter : parameters) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  return tensors::foreach_groups(std::move(gradients));
}

}  // namespace

at::Tensor clip_grad_norm_(const std::vector<at::Tensor>& parameters, double max_norm, double norm_type) {
  at::NoGradGuard no_grad;
  const auto groups = gradient_groups(parameters);
  if (groups.empty()) return at::zeros({});
  const auto device = groups.front().front().device();

  std::vector<at::Tensor> norms;
  for (const auto& gradients : groups) {
    for (const auto& norm : at::_foreach_norm(gradients, norm_type)) norms.push_back(norm.to(device));
  }
  const auto total_norm = at::linalg_vector_norm(at::stack(norms), norm_type);

  // Multiplying by a coefficient of 1 costs less than asking the device whether it is 1. Python divides a number by a
  // tensor through the reciprocal, which rounds twice.
  const auto coefficient = (total_norm + 1e-6).reciprocal_().mul_(max_norm).clamp_max_(1);
  for (const auto& gradients : groups) {
    at::_foreach_mul_(gradients, coefficient.to(gradients.front().device()));
  }
  return total_norm;
}

void clip_grad_value_(const std::vector<at::Tensor>& parameters, double clip_value) {
  at::NoGradGuard no_grad;
  for (const auto& gradients : gradient_groups(parameters)) {
    at::_foreach_clamp_min_(gradients, -clip_value);
    at::_foreach_clamp_max_(gradients, clip_value);
  }
}

}  // namespace accelerate::train
