#include "accelerate/sharding/optimizer_sharding.h"

#include <algorithm>
#include <cassert>
#include <string>
#include <typeinfo>

#include <ATen/ATen.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>

#include "accelerate/base/log.h"
#include "accelerate/comm/all_gather_slices.h"
#include "accelerate/comm/shared_zeros.h"
#include "accelerate/parallel/replicas.h"
#include "accelerate/sharding/gradient_shards.h"
#include "accelerate/sharding/layout.h"
#include "accelerate/tensors/flat_view.h"

namespace accelerate::sharding {

namespace {

// For smaller tensors a fused step takes less time than creating the views of shards.
constexpr int64_t kLeastSharded = 16 * 1024;

bool worth_sharding(const at::Tensor& parameter) {
  return parameter.numel() >= kLeastSharded && parameter.is_floating_point() &&
         parameter.is_non_overlapping_and_dense();
}

// With fewer elements in total, the exchange between ranks costs more than it saves.
constexpr int64_t kLeastTotal = 4 * 1024 * 1024;

/// Exact classes only: a derived class has its own step.
bool is_adam(const torch::optim::Optimizer& optimizer) {
  return typeid(optimizer) == typeid(torch::optim::AdamW) || typeid(optimizer) == typeid(torch::optim::Adam);
}

}  // namespace

OptimizerSharding::~OptimizerSharding() {
  for (const auto& model : models_) {
    if (model.shards_gradients) release_gradient_shards(*model.replicas);
  }
}

/// Calls `visit` for every sharded parameter, in the same order on all ranks.
template <class Visit>
void OptimizerSharding::for_each_sharded_parameter(Visit visit) const {
  for (auto& group : optimizer_.param_groups()) {
    for (const auto& parameter : group.params()) {
      if (shards(parameter)) visit(parameter);
    }
  }
}

/// The same for every tensor of their state.
template <class Visit>
void OptimizerSharding::for_each_sharded_state(Visit visit) const {
  for_each_sharded_parameter([&](const at::Tensor& parameter) {
    auto state = optimizer_.state().find(parameter.unsafeGetTensorImpl());
    if (state == optimizer_.state().end()) return;
    for_each_state_tensor_(*state->second, [&](at::Tensor& tensor) { visit(parameter, tensor); });
  });
}

void OptimizerSharding::add(const std::shared_ptr<parallel::Replicas>& replicas) {
  assert(replicas);
  const bool known = std::ranges::any_of(models_, [&](const auto& model) { return model.replicas == replicas; });
  if (ended_ || known) return;
  remove_replaced_by(*replicas);
  assert(models_.empty() || group().size() == replicas->group().size());
  models_.push_back({.replicas = replicas});
  shares_memory_ = is_adam(optimizer_) && comm::memory_access(group()).shared;
  for_each_sharded_parameter(
      [this](const at::Tensor& parameter) { keeps_state_shards_ |= !has_shared_state(parameter); });
  for_each_sharded_state([this](const at::Tensor& parameter, at::Tensor& state) {
    // State of another size is a shard already, from other replicas or from an earlier prepare().
    if (!has_shared_state(parameter) && state.sizes() == parameter.sizes()) state = copy_own_shard(parameter, state);
  });
}

void OptimizerSharding::remove_replaced_by(const parallel::Replicas& replicas) {
  std::erase_if(models_, [&](const ShardedModel& model) {
    const bool replaced = std::ranges::all_of(optimizer_.param_groups(), [&](const auto& group) {
      return std::ranges::all_of(group.params(), [&](const at::Tensor& parameter) {
        return replicas.averages(parameter) || !model.replicas->averages(parameter);
      });
    });
    if (replaced && model.shards_gradients) release_gradient_shards(*model.replicas);
    return replaced;
  });
}

bool OptimizerSharding::shards(const at::Tensor& parameter) const {
  return worth_sharding(parameter) &&
         std::ranges::any_of(models_, [&](const auto& model) { return model.replicas->averages(parameter); });
}

bool OptimizerSharding::has_shared_state(const at::Tensor& parameter) const {
  return shares_memory_ && parameter.is_cpu();
}

void OptimizerSharding::shard_gradients() {
  for (auto& [replicas, shards_gradients] : models_) {
    if (shards_gradients) continue;
    keep_gradient_shards(*replicas, [size = group().size(), rank = group().rank()](const at::Tensor& parameter) {
      return worth_sharding(parameter) ? shard_of(parameter.numel(), rank, size) : Slice{.length = parameter.numel()};
    });
    shards_gradients = true;
  }
}

const comm::Group& OptimizerSharding::group() const {
  assert(is_active());
  return models_.front().replicas->group();
}

at::Tensor OptimizerSharding::own_shard(const at::Tensor& tensor) const {
  const auto shard = shard_of(tensor.numel(), group().rank(), group().size());
  return tensors::flat_view(tensor).narrow(0, shard.begin, shard.length);
}

at::Tensor OptimizerSharding::own_shard_of_state(const at::Tensor& parameter, const at::Tensor& state) const {
  return has_shared_state(parameter) ? own_shard(state) : state;
}

void OptimizerSharding::move_to_shared_memory(const std::vector<StateTensor>& tensors) {
  assert(std::ranges::all_of(tensors, [this](const auto& each) { return has_shared_state(each.parameter); }));
  shared_state_.move_to_shared_memory(group(), tensors);
}

at::Tensor OptimizerSharding::copy_own_shard(const at::Tensor& parameter, const at::Tensor& whole) const {
  assert(!has_shared_state(parameter) && whole.sizes() == parameter.sizes());
  at::NoGradGuard no_grad;
  const bool in_order = whole.strides() == parameter.strides();
  return own_shard(in_order ? whole : at::empty_like(parameter).copy_(whole)).clone();
}

at::Tensor OptimizerSharding::gather(const at::Tensor& parameter, const at::Tensor& state) const {
  if (has_shared_state(parameter)) return state;
  at::NoGradGuard no_grad;
  auto whole = at::empty_like(parameter, state.options().memory_format(at::MemoryFormat::Preserve));
  own_shard(whole).copy_(state);
  const auto layout = layout_of(whole.numel(), static_cast<int64_t>(whole.itemsize()), group().size());
  comm::all_gather_slices(group(), {tensors::flat_view(whole)}, plan_one_round({layout}), [](size_t) {});
  return whole;
}

bool OptimizerSharding::gradients_are_local() const {
  return std::ranges::any_of(models_, [](const auto& model) { return model.replicas->gradients_are_local(); });
}

void OptimizerSharding::end() {
  if (keeps_state_shards_) {
    for_each_sharded_state(
        [this](const at::Tensor& parameter, at::Tensor& state) { state = gather(parameter, state); });
  }
  size_t num_dropped = 0;
  for (const auto& model : models_) {
    if (model.shards_gradients) num_dropped += keep_whole_gradients(*model.replicas);
  }
  shared_state_.make_private();
  models_.clear();
  ended_ = true;
  if (num_dropped == 0) return;
  get_logger("accelerate.train")
      .warning(std::to_string(num_dropped) +
                   " gradients, of which this rank kept only its shard, are dropped: ranks no "
                   "longer shard the step, and the next step skips these parameters",
               {.main_process_only = false});
}

bool steps_any_of(torch::optim::Optimizer& optimizer, const parallel::Replicas& replicas) {
  return std::ranges::any_of(optimizer.param_groups(), [&](const auto& group) {
    return std::ranges::any_of(group.params(), [&](const auto& parameter) { return replicas.averages(parameter); });
  });
}

bool sharding_pays(torch::optim::Optimizer& optimizer, const parallel::Replicas& replicas) {
  if (!is_adam(optimizer)) return false;
  int64_t num_elements = 0;
  for (const auto& group : optimizer.param_groups()) {
    for (const auto& parameter : group.params()) {
      if (!worth_sharding(parameter) || !replicas.averages(parameter)) continue;
      if (!parameter.is_cpu()) return false;
      num_elements += parameter.numel();
    }
  }
  if (num_elements < kLeastTotal) return false;
  const auto reach = comm::memory_access(replicas.group());
  return reach.shared && reach.direct;
}

}  // namespace accelerate::sharding
