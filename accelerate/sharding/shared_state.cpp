#include "accelerate/sharding/shared_state.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "accelerate/base/error.h"
#include "accelerate/sharding/layout.h"
#include "accelerate/tensors/flat_view.h"

namespace accelerate::sharding {

namespace {

/// This rank's shard of each tensor.
std::vector<Slice> own_shards(const comm::Group& group, const std::vector<at::Tensor>& tensors) {
  std::vector<Slice> shards;
  for (size_t i = 0; i < tensors.size(); ++i) {
    auto& shard = shards.emplace_back(shard_of(tensors[i].numel(), group.rank(), group.size()));
    shard.tensor = i;
  }
  return shards;
}

/// Copies the elements of `slice` between tensors of one shape.
void copy_slice(const at::Tensor& to, const at::Tensor& from, const Slice& slice) {
  const auto slice_in = [&](const at::Tensor& tensor) {
    return tensors::flat_view(tensor).narrow(0, slice.begin, slice.length);
  };
  const bool in_order = from.strides() == to.strides();
  slice_in(to).copy_(slice_in(in_order ? from : at::empty_like(to).copy_(from)));
}

}  // namespace

SharedState::~SharedState() {
  try {
    make_private();
  } catch (const Error&) {
    // The tensors stay shared. Readers do not notice.
  }
}

bool SharedState::holds(const at::Tensor& parameter, const at::Tensor& state) const {
  return state.defined() && state.sizes() == parameter.sizes() && state.strides() == parameter.strides() &&
         state.scalar_type() == parameter.scalar_type() &&
         std::any_of(memory_.begin(), memory_.end(), [&](const auto& each) { return each.holds(state); });
}

void SharedState::move_to_shared_memory(const comm::Group& group, const std::vector<StateTensor>& tensors) {
  at::NoGradGuard no_grad;
  std::vector<StateTensor> missing;
  std::vector<at::Tensor> like;
  for (const auto& [parameter, tensor] : tensors) {
    if (holds(parameter, *tensor)) continue;
    if (tensor->defined() && tensor->sizes() != parameter.sizes()) {
      fail("the state of a parameter of shape ", parameter.sizes(), " has the shape ", tensor->sizes());
    }
    missing.push_back({parameter, tensor});
    like.push_back(parameter);
  }
  if (missing.empty()) return;

  const auto shards = own_shards(group, like);
  auto zeros =
      shared_zeros(group, like, shards, "memory for the optimizer's state, which ranks share unless zero_stage is 0");
  for (size_t i = 0; i < missing.size(); ++i) {
    if (missing[i].tensor->defined()) copy_slice(zeros.tensors[i], *missing[i].tensor, shards[i]);
    *missing[i].tensor = zeros.tensors[i];
  }
  std::erase_if(memory_, [](const auto& each) { return each.is_gone(); });
  memory_.push_back(zeros.memory);
}

void SharedState::make_private() {
  for (const auto& each : memory_) each.make_private();
  memory_.clear();
}

}  // namespace accelerate::sharding
