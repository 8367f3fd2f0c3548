#include "accelerate/train/optimizer_sharding.h"

#include <algorithm>

#include <ATen/ATen.h>
#include <torch/optim/optimizer.h>

#include "accelerate/comm/exchange_shares.h"
#include "accelerate/parallel/replicas.h"
#include "accelerate/train/optimizer_state.h"

namespace accelerate::train {

namespace {

// Below this, a fused step takes less time than cutting the tensor into views does.
constexpr int64_t kLeastSharded = 16 * 1024;

bool worth_sharding(const at::Tensor& parameter) {
  return parameter.numel() >= kLeastSharded && parameter.is_floating_point() &&
         parameter.is_non_overlapping_and_dense();
}

/// Calls `visit` for every tensor of the state of the parameters that `sharding` shards, in the same order on all
/// ranks.
template <class Visit>
void for_each_sharded_state(const OptimizerSharding& sharding, torch::optim::Optimizer& optimizer, Visit visit) {
  for (auto& group : optimizer.param_groups()) {
    for (const auto& parameter : group.params()) {
      auto state = optimizer.state().find(parameter.unsafeGetTensorImpl());
      if (state == optimizer.state().end() || !sharding.shards(parameter)) continue;
      for_each_state_tensor(*state->second, [&](at::Tensor& tensor) { visit(parameter, tensor); });
    }
  }
}

}  // namespace

at::Tensor flat_view(const at::Tensor& tensor) { return tensor.as_strided({tensor.numel()}, {1}); }

void OptimizerSharding::add(const std::shared_ptr<parallel::Replicas>& replicas, torch::optim::Optimizer& optimizer) {
  if (ended_ || std::find(replicas_.begin(), replicas_.end(), replicas) != replicas_.end()) return;
  replicas_.push_back(replicas);
  for_each_sharded_state(*this, optimizer, [this](const at::Tensor& parameter, at::Tensor& state) {
    // A share already: of replicas that hold it too, or from a time when the optimizer was prepared before.
    if (state.sizes() == parameter.sizes()) state = cut(parameter, state);
  });
}

bool OptimizerSharding::shards(const at::Tensor& parameter) const {
  return worth_sharding(parameter) &&
         std::any_of(replicas_.begin(), replicas_.end(), [&](const auto& each) { return each->averages(parameter); });
}

const comm::Group& OptimizerSharding::group() const { return replicas_.front()->group(); }

at::Tensor OptimizerSharding::share(const at::Tensor& tensor, int rank) const {
  const auto [begin, length] = share_of(tensor.numel(), rank, group().size());
  return flat_view(tensor).narrow(0, begin, length);
}

at::Tensor OptimizerSharding::cut(const at::Tensor& parameter, const at::Tensor& whole) const {
  at::NoGradGuard no_grad;
  const bool in_order = whole.strides() == parameter.strides();
  return share(in_order ? whole : at::empty_like(parameter).copy_(whole), group().rank()).clone();
}

at::Tensor OptimizerSharding::gather(const at::Tensor& parameter, const at::Tensor& share) const {
  at::NoGradGuard no_grad;
  auto whole = at::empty_like(parameter, share.options().memory_format(at::MemoryFormat::Preserve));
  this->share(whole, group().rank()).copy_(share);
  comm::exchange_shares(group(), {flat_view(whole)}, /*num_rounds=*/1, [&](size_t) {
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
  return std::any_of(replicas_.begin(), replicas_.end(), [](const auto& each) { return each->gradients_are_local(); });
}

void OptimizerSharding::end(torch::optim::Optimizer& optimizer) {
  for_each_sharded_state(*this, optimizer,
                         [this](const at::Tensor& parameter, at::Tensor& state) { state = gather(parameter, state); });
  replicas_.clear();
  ended_ = true;
}

}  // namespace accelerate::train
