#include "accelerate/train/clip_gradients.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "accelerate/tensors/distinct_tensors.h"
#include "accelerate/tensors/foreach_groups.h"
#include "accelerate/train/fused_kernels.h"

namespace accelerate::train {
namespace {

using Groups = std::vector<std::vector<at::Tensor>>;

std::vector<at::Tensor> gradients_of(const std::vector<at::Tensor>& parameters) {
  std::vector<at::Tensor> gradients;
  for (const auto& parameter : tensors::distinct_tensors(parameters)) {
    if (parameter.grad().defined()) gradients.push_back(parameter.grad());
  }
  return gradients;
}

std::vector<at::Tensor> norms_of(const Groups& groups, double norm_type) {
  std::vector<at::Tensor> norms;
  for (const auto& gradients : groups) {
    for (const auto& norm : at::_foreach_norm(gradients, norm_type)) {
      norms.push_back(norm.to(groups.front().front().device()));
    }
  }
  return norms;
}

void scale_(const Groups& groups, const at::Tensor& total_norm, double max_norm) {
  // Python divides a number by a tensor through the reciprocal, which rounds twice.
  const auto coefficient = (total_norm + 1e-6).reciprocal_().mul_(max_norm).clamp_max_(1);
  // Only on the CPU: asking another device costs more than multiplying by 1.
  if (coefficient.is_cpu() && coefficient.item<double>() == 1) return;
  for (const auto& gradients : groups) at::_foreach_mul_(gradients, coefficient.to(gradients.front().device()));
}

}  // namespace

at::Tensor clip_grad_norm_(const std::vector<at::Tensor>& parameters, double max_norm, double norm_type) {
  at::NoGradGuard no_grad;
  const auto groups = tensors::foreach_groups(gradients_of(parameters));
  if (groups.empty()) return at::zeros({});
  const auto total_norm = at::linalg_vector_norm(at::stack(norms_of(groups, norm_type)), norm_type);
  scale_(groups, total_norm, max_norm);
  return total_norm;
}

at::Tensor clip_grad_norm_of_shares_(const std::vector<at::Tensor>& parameters, double max_norm, double norm_type,
                                     const std::vector<const OptimizerSharding*>& shardings) {
  at::NoGradGuard no_grad;
  const comm::Group* group = nullptr;
  at::Tensor nothing;
  std::vector<at::Tensor> shares, others;
  for (const auto& parameter : tensors::distinct_tensors(parameters)) {
    const auto& gradient = parameter.grad();
    if (!gradient.defined()) continue;
    const auto sharding =
        std::find_if(shardings.begin(), shardings.end(), [&](const auto* each) { return each->shards(parameter); });
    if (sharding == shardings.end() || !same_layout(parameter, gradient)) {
      others.push_back(gradient);
      continue;
    }
    group = &(*sharding)->group();
    nothing = at::zeros({}, gradient.options());
    const auto share = (*sharding)->share(gradient, group->rank());
    if (share.numel() > 0) shares.push_back(share);
  }
  if (!group) return clip_grad_norm_(parameters, max_norm, norm_type);

  const auto own = norms_of(tensors::foreach_groups(shares), norm_type);
  auto norms = norms_of(tensors::foreach_groups(others), norm_type);
  norms.push_back(own.empty() ? nothing : at::linalg_vector_norm(at::stack(own), norm_type));
  norms.back() = at::linalg_vector_norm(group->all_gather(norms.back()), norm_type);
  const auto total_norm = at::linalg_vector_norm(at::stack(norms), norm_type);
  others.insert(others.end(), shares.begin(), shares.end());
  scale_(tensors::foreach_groups(others), total_norm, max_norm);
  return total_norm;
}

void clip_grad_value_(const std::vector<at::Tensor>& parameters, double clip_value) {
  at::NoGradGuard no_grad;
  for (const auto& gradients : tensors::foreach_groups(gradients_of(parameters))) {
    at::_foreach_clamp_min_(gradients, -clip_value);
    at::_foreach_clamp_max_(gradients, clip_value);
  }
}

}  // namespace accelerate::train
