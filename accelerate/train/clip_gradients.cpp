#include "accelerate/train/clip_gradients.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include <ATen/ATen.h>

#include "accelerate/comm/operations.h"
#include "accelerate/parallel/distributed_model.h"
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

at::Tensor coefficient_of(const at::Tensor& total_norm, double max_norm) {
  // Python divides a number by a tensor through the reciprocal, which rounds twice.
  return (total_norm + 1e-6).reciprocal_().mul_(max_norm).clamp_max_(1);
}

/// Checked on the CPU only: reading the value from another device costs more than a multiplication by 1.
bool changes_nothing(const at::Tensor& coefficient) { return coefficient.is_cpu() && coefficient.item<double>() == 1; }

void scale_(const Groups& groups, const at::Tensor& coefficient) {
  if (changes_nothing(coefficient)) return;
  for (const auto& gradients : groups) at::_foreach_mul_(gradients, coefficient.to(gradients.front().device()));
}

/// Gradients, divided by the ranks that process them.
struct Divided {
  const comm::Group* group = nullptr;  // the ranks that shard them; null if none are sharded
  std::vector<at::Tensor> shards;      // this rank's shards
  std::vector<at::Tensor> others;      // processed by each rank by itself
  at::TensorOptions options;           // of a sharded gradient
};

Divided divide(const std::vector<at::Tensor>& parameters,
               const std::vector<const sharding::OptimizerSharding*>& shardings) {
  Divided divided;
  for (const auto& parameter : tensors::distinct_tensors(parameters)) {
    const auto& gradient = parameter.grad();
    if (!gradient.defined()) continue;
    const auto sharding =
        std::find_if(shardings.begin(), shardings.end(), [&](const auto* each) { return each->shards(parameter); });
    if (sharding == shardings.end() || !same_layout(parameter, gradient)) {
      divided.others.push_back(gradient);
      continue;
    }
    divided.group = &(*sharding)->group();
    divided.options = gradient.options();
    const auto shard = (*sharding)->own_shard(gradient);
    if (shard.numel() > 0) divided.shards.push_back(shard);
  }
  return divided;
}

/// The gradients that this rank steps.
std::vector<at::Tensor> to_change(const Divided& divided) {
  auto gradients = divided.others;
  gradients.insert(gradients.end(), divided.shards.begin(), divided.shards.end());
  return gradients;
}

/// Collective.
at::Tensor norm_of_shards(const Divided& divided, double norm_type) {
  const auto own = norms_of(tensors::foreach_groups(divided.shards), norm_type);
  auto norms = norms_of(tensors::foreach_groups(divided.others), norm_type);
  norms.push_back(own.empty() ? at::zeros({}, divided.options) : at::linalg_vector_norm(at::stack(own), norm_type));
  norms.back() = at::linalg_vector_norm(divided.group->all_gather(norms.back()), norm_type);
  return at::linalg_vector_norm(at::stack(norms), norm_type);
}

at::ScalarType type_of_norm(const std::vector<at::Tensor>& gradients) {
  const bool any_double = std::any_of(gradients.begin(), gradients.end(),
                                      [](const at::Tensor& each) { return each.scalar_type() == at::kDouble; });
  return any_double ? at::kDouble : at::kFloat;
}

/// Whether `models` average all gradients of `parameters`.
bool all_averaged(const std::vector<at::Tensor>& parameters, const std::vector<parallel::DistributedModel*>& models) {
  return std::all_of(parameters.begin(), parameters.end(), [&](const at::Tensor& parameter) {
    return !parameter.grad().defined() ||
           std::any_of(models.begin(), models.end(), [&](const auto* each) { return each->averages(parameter); });
  });
}

/// The norm from the sums of squares of the all-reduces, if all ranks have them; else undefined. Collective.
at::Tensor norm_of_reductions(const std::vector<at::Tensor>& parameters, double norm_type,
                              std::vector<parallel::DistributedModel*> models) {
  if (norm_type != 2) return {};
  std::erase_if(models, [&](const auto* each) {
    return std::none_of(parameters.begin(), parameters.end(), [&](const auto& one) { return each->averages(one); });
  });
  const bool possible = !models.empty() && std::all_of(models.begin(), models.end(),
                                                       [](const auto* each) { return each->can_sum_squares(); });
  if (!possible) return {};

  const auto gradients = gradients_of(parameters);
  double sum = 0;
  size_t num_gradients = 0;
  bool known = true;
  for (auto* each : models) {
    const auto squares = each->sum_of_squares();  // of all models, so that all start to collect
    known &= squares.has_value();
    sum += squares ? squares->sum : 0;
    num_gradients += squares ? squares->num_gradients : 0;
  }
  // The gradients are exactly those of the models.
  known &= num_gradients == gradients.size() && all_averaged(parameters, models);
  if (!comm::true_on_all_ranks(known, models.front()->group())) return {};
  return at::scalar_tensor(std::sqrt(sum), type_of_norm(gradients));
}

}  // namespace

at::Tensor clip_grad_norm_(const std::vector<at::Tensor>& parameters, double max_norm, double norm_type) {
  at::NoGradGuard no_grad;
  const auto groups = tensors::foreach_groups(gradients_of(parameters));
  if (groups.empty()) return at::zeros({});
  const auto total_norm = at::linalg_vector_norm(at::stack(norms_of(groups, norm_type)), norm_type);
  scale_(groups, coefficient_of(total_norm, max_norm));
  return total_norm;
}

at::Tensor clip_grad_norm_together_(const std::vector<at::Tensor>& parameters, double max_norm, double norm_type,
                                    const ClippingRanks& ranks) {
  at::NoGradGuard no_grad;
  auto total_norm = norm_of_reductions(parameters, norm_type, ranks.models);
  if (total_norm.defined() && changes_nothing(coefficient_of(total_norm, max_norm))) return total_norm;

  const auto divided = divide(parameters, ranks.shardings);
  if (!total_norm.defined()) {
    if (!divided.group) return clip_grad_norm_(parameters, max_norm, norm_type);
    total_norm = norm_of_shards(divided, norm_type);
  }
  scale_(tensors::foreach_groups(to_change(divided)), coefficient_of(total_norm, max_norm));
  return total_norm;
}

void clip_grad_value_(const std::vector<at::Tensor>& parameters, double clip_value,
                      const std::vector<const sharding::OptimizerSharding*>& shardings) {
  at::NoGradGuard no_grad;
  for (const auto& gradients : tensors::foreach_groups(to_change(divide(parameters, shardings)))) {
    at::_foreach_clamp_min_(gradients, -clip_value);
    at::_foreach_clamp_max_(gradients, clip_value);
  }
}

}  // namespace accelerate::train
