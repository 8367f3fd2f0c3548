#include "accelerate/train/optimizer_sharding.h"

#include <algorithm>
#include <string>
#include <typeinfo>

#include <ATen/ATen.h>
#include <torch/optim/adam.h>
#include <torch/optim/adamw.h>

#include "accelerate/base/log.h"
#include "accelerate/comm/common_tensors.h"
#include "accelerate/comm/exchange_shares.h"
#include "accelerate/parallel/replicas.h"
#include "accelerate/tensors/flat_view.h"
#include "accelerate/train/optimizer_state.h"

namespace accelerate::train {

namespace {

// For smaller tensors a fused step takes less time than creating the views of shards.
constexpr int64_t kLeastSharded = 16 * 1024;

bool worth_sharding(const at::Tensor& parameter) {
  return parameter.numel() >= kLeastSharded && parameter.is_floating_point() &&
         parameter.is_non_overlapping_and_dense();
}

// With fewer elements in total, the exchange between ranks costs more than it saves.
constexpr int64_t kLeastShared = 4 * 1024 * 1024;

/// Exact classes only: a derived class has its own step.
bool is_adam(const torch::optim::Optimizer& optimizer) {
  return typeid(optimizer) == typeid(torch::optim::AdamW) || typeid(optimizer) == typeid(torch::optim::Adam);
}

/// Calls `visit` for every parameter that `sharding` shards, in the same order on all ranks.
template <class Visit>
void for_each_sharded(const OptimizerSharding& sharding, torch::optim::Optimizer& optimizer, Visit visit) {
  for (auto& group : optimizer.param_groups()) {
    for (const auto& parameter : group.params()) {
      if (sharding.shards(parameter)) visit(parameter);
    }
  }
}

/// The same for every tensor of their state.
template <class Visit>
void for_each_sharded_state(const OptimizerSharding& sharding, torch::optim::Optimizer& optimizer, Visit visit) {
  for_each_sharded(sharding, optimizer, [&](const at::Tensor& parameter) {
    auto state = optimizer.state().find(parameter.unsafeGetTensorImpl());
    if (state == optimizer.state().end()) return;
    for_each_state_tensor(*state->second, [&](at::Tensor& tensor) { visit(parameter, tensor); });
  });
}

}  // namespace

OptimizerSharding::~OptimizerSharding() {
  for (const auto& tie : ties_) {
    if (tie.shares_gradients) tie.replicas->release_shares();
  }
}

void OptimizerSharding::add(const std::shared_ptr<parallel::Replicas>& replicas, torch::optim::Optimizer& optimizer) {
  const bool tied = std::ranges::any_of(ties_, [&](const Tie& tie) { return tie.replicas == replicas; });
  if (ended_ || tied) return;
  forget_replaced_by(*replicas, optimizer);
  ties_.push_back({.replicas = replicas});
  has_common_ = is_adam(optimizer) && comm::memory_reach(group()).common;
  for_each_sharded(*this, optimizer, [this](const at::Tensor& parameter) { keeps_shares_ |= !keeps_whole(parameter); });
  for_each_sharded_state(*this, optimizer, [this](const at::Tensor& parameter, at::Tensor& state) {
    // State of another size is a shard already, from other replicas or from an earlier prepare().
    if (!keeps_whole(parameter) && state.sizes() == parameter.sizes()) state = cut(parameter, state);
  });
}

void OptimizerSharding::forget_replaced_by(const parallel::Replicas& replicas, torch::optim::Optimizer& optimizer) {
  std::erase_if(ties_, [&](const Tie& tie) {
    const bool replaced = std::ranges::all_of(optimizer.param_groups(), [&](const auto& group) {
      return std::ranges::all_of(group.params(), [&](const at::Tensor& parameter) {
        return replicas.averages(parameter) || !tie.replicas->averages(parameter);
      });
    });
    if (replaced && tie.shares_gradients) tie.replicas->release_shares();
    return replaced;
  });
}

bool OptimizerSharding::shards(const at::Tensor& parameter) const {
  return worth_sharding(parameter) &&
         std::ranges::any_of(ties_, [&](const Tie& tie) { return tie.replicas->averages(parameter); });
}

bool OptimizerSharding::keeps_whole(const at::Tensor& parameter) const { return has_common_ && parameter.is_cpu(); }

void OptimizerSharding::share_gradients() {
  for (auto& [replicas, shares_gradients] : ties_) {
    if (shares_gradients) continue;
    replicas->keep_shares([size = group().size(), rank = group().rank()](const at::Tensor& parameter) {
      return worth_sharding(parameter) ? share_of(parameter.numel(), rank, size)
                                       : tensors::ElementRange{0, parameter.numel()};
    });
    shares_gradients = true;
  }
}

const comm::Group& OptimizerSharding::group() const { return ties_.front().replicas->group(); }

at::Tensor OptimizerSharding::share(const at::Tensor& tensor, int rank) const {
  const auto [begin, length] = share_of(tensor.numel(), rank, group().size());
  return tensors::flat_view(tensor).narrow(0, begin, length);
}

at::Tensor OptimizerSharding::own_share(const at::Tensor& parameter, const at::Tensor& state) const {
  return keeps_whole(parameter) ? share(state, group().rank()) : state;
}

at::Tensor OptimizerSharding::cut(const at::Tensor& parameter, const at::Tensor& whole) const {
  at::NoGradGuard no_grad;
  const bool in_order = whole.strides() == parameter.strides();
  return share(in_order ? whole : at::empty_like(parameter).copy_(whole), group().rank()).clone();
}

at::Tensor OptimizerSharding::whole(const at::Tensor& parameter, const at::Tensor& state) const {
  return keeps_whole(parameter) ? state : gather(parameter, state);
}

/// All-gathers the shards of all ranks.
at::Tensor OptimizerSharding::gather(const at::Tensor& parameter, const at::Tensor& share) const {
  at::NoGradGuard no_grad;
  auto whole = at::empty_like(parameter, share.options().memory_format(at::MemoryFormat::Preserve));
  this->share(whole, group().rank()).copy_(share);
  comm::exchange_shares(group(), {tensors::flat_view(whole)}, /*num_rounds=*/1, [&](size_t) {
    comm::Shares shares;
    for (int rank = 0; rank < group().size(); ++rank) {
      const auto [begin, length] = share_of(whole.numel(), rank, group().size());
      shares.push_back({{.tensor = 0, .begin = begin, .length = length}});
    }
    return shares;
  });
  return whole;
}

bool OptimizerSharding::gradients_are_local() const {
  return std::ranges::any_of(ties_, [](const Tie& tie) { return tie.replicas->gradients_are_local(); });
}

void OptimizerSharding::end(torch::optim::Optimizer& optimizer) {
  if (keeps_shares_) {
    for_each_sharded_state(*this, optimizer,
                           [this](const at::Tensor& parameter, at::Tensor& state) { state = whole(parameter, state); });
  }
  size_t num_dropped = 0;
  for (const auto& tie : ties_) {
    if (tie.shares_gradients) num_dropped += tie.replicas->keep_whole_gradients();
  }
  common_.make_private();
  ties_.clear();
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

bool sharing_pays(torch::optim::Optimizer& optimizer, const parallel::Replicas& replicas) {
  if (!is_adam(optimizer)) return false;
  int64_t num_elements = 0;
  for (const auto& group : optimizer.param_groups()) {
    for (const auto& parameter : group.params()) {
      if (!worth_sharding(parameter) || !replicas.averages(parameter)) continue;
      if (!parameter.is_cpu()) return false;
      num_elements += parameter.numel();
    }
  }
  if (num_elements < kLeastShared) return false;
  const auto reach = comm::memory_reach(replicas.group());
  return reach.common && reach.direct;
}

}  // namespace accelerate::train
