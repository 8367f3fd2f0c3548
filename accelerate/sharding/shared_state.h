#pragma once

// Optimizer state in shared memory: one copy per machine, visible to all its ranks. Each rank writes its shard.

#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"
#include "accelerate/sharding/shared_tensors.h"

namespace accelerate::sharding {

/// A tensor of the state of `parameter`. It may be undefined.
struct StateTensor {
  at::Tensor parameter;
  at::Tensor* tensor = nullptr;
};

/// Shared memory for the state of one optimizer, seen from one rank. Tensors may outlive it; they are then private to
/// the rank.
class SharedState {
 public:
  SharedState() = default;
  SharedState(const SharedState&) = delete;
  SharedState& operator=(const SharedState&) = delete;
  ~SharedState();

  /// Whether `state` is in this memory, with the layout of `parameter`.
  bool holds(const at::Tensor& parameter, const at::Tensor& state) const;

  /// Moves tensors into this memory unless they are there already. Undefined ones become zeros; of the values of others
  /// each rank of `group` writes its shard. Collective if there is any to move. Throws Error on all ranks, and changes
  /// nothing, if memory is exhausted.
  void move_to_shared_memory(const comm::Group& group, const std::vector<StateTensor>& tensors);

  /// Makes the tensors private to this rank, copy-on-write, with their current values. All ranks must call it.
  void make_private();

 private:
  std::vector<SharedMemory> memory_;
};

}  // namespace accelerate::sharding
