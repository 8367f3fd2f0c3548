#pragma once

// State of an optimizer of which a machine has one copy: all its ranks see the whole, and each writes its share.

#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/common_tensors.h"
#include "accelerate/comm/group.h"

namespace accelerate::train {

/// A tensor of the state of `parameter`, which may be undefined.
struct StateTensor {
  at::Tensor parameter;
  at::Tensor* tensor = nullptr;
};

/// Memory for the state of one optimizer, seen from one rank. The tensors may outlive it; they are the rank's own then.
class CommonState {
 public:
  CommonState() = default;
  CommonState(const CommonState&) = delete;
  CommonState& operator=(const CommonState&) = delete;
  ~CommonState();

  /// Whether `state` lies here, laid out as `parameter`.
  bool holds(const at::Tensor& parameter, const at::Tensor& state) const;

  /// Puts tensors here that are not: zeros for what is undefined, else its values, of which each rank of `group` brings
  /// its share. Collective if there are any. Throws Error on all ranks, and changes nothing, when there is no memory.
  void take_in(const comm::Group& group, const std::vector<StateTensor>& tensors);

  /// Leaves the tensors to this rank alone, with the values they have. Nothing is copied before it is written to. All
  /// ranks do so.
  void make_private();

 private:
  std::vector<comm::CommonMemory> memory_;
};

}  // namespace accelerate::train
