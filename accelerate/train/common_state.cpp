#include "accelerate/train/common_state.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "accelerate/base/error.h"
#include "accelerate/tensors/flat_view.h"
#include "accelerate/train/shares.h"

namespace accelerate::train {

namespace {

/// This rank's shard of each tensor.
std::vector<comm::Part> own_parts(const comm::Group& group, const std::vector<at::Tensor>& tensors) {
  std::vector<comm::Part> parts;
  for (size_t i = 0; i < tensors.size(); ++i) {
    const auto [begin, length] = share_of(tensors[i].numel(), group.rank(), group.size());
    parts.push_back({.tensor = i, .begin = begin, .length = length});
  }
  return parts;
}

/// Copies the elements of `part` between tensors of one shape.
void copy_part(const at::Tensor& to, const at::Tensor& from, const comm::Part& part) {
  const auto part_of = [&](const at::Tensor& tensor) {
    return tensors::flat_view(tensor).narrow(0, part.begin, part.length);
  };
  const bool in_order = from.strides() == to.strides();
  part_of(to).copy_(part_of(in_order ? from : at::empty_like(to).copy_(from)));
}

}  // namespace

CommonState::~CommonState() {
  try {
    make_private();
  } catch (const Error&) {
    // The tensors stay shared. Readers do not notice.
  }
}

bool CommonState::holds(const at::Tensor& parameter, const at::Tensor& state) const {
  return state.defined() && state.sizes() == parameter.sizes() && state.strides() == parameter.strides() &&
         state.scalar_type() == parameter.scalar_type() &&
         std::any_of(memory_.begin(), memory_.end(), [&](const auto& each) { return each.holds(state); });
}

void CommonState::take_in(const comm::Group& group, const std::vector<StateTensor>& tensors) {
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

  const auto parts = own_parts(group, like);
  auto made = comm::common_zeros(group, like, parts,
                                 "memory for the optimizer's state, which ranks share unless zero_stage is 0");
  for (size_t i = 0; i < missing.size(); ++i) {
    if (missing[i].tensor->defined()) copy_part(made.tensors[i], *missing[i].tensor, parts[i]);
    *missing[i].tensor = made.tensors[i];
  }
  std::erase_if(memory_, [](const auto& each) { return each.is_gone(); });
  memory_.push_back(made.memory);
}

void CommonState::make_private() {
  for (const auto& each : memory_) each.make_private();
  memory_.clear();
}

}  // namespace accelerate::train
