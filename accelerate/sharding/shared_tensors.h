#pragma once

// Tensors in shared memory: one copy per machine, mapped by all ranks of a group.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/base/slice.h"
#include "accelerate/comm/group.h"

namespace accelerate::shared_memory {
class Segment;
}

namespace accelerate::sharding {

/// The memory of some tensors. Each rank keeps it mapped until its last tensor is gone.
class SharedMemory {
 public:
  explicit SharedMemory(std::weak_ptr<shared_memory::Segment> segment) : segment_(std::move(segment)) {}

  /// Whether `tensor` is in this memory.
  bool holds(const at::Tensor& tensor) const;

  /// Whether this rank has dropped all of the tensors.
  bool is_gone() const { return segment_.expired(); }

  /// Makes the tensors private to this rank, with their values (copy-on-write). Ranks that still share them must not
  /// write to them afterwards.
  void make_private() const;

 private:
  std::weak_ptr<shared_memory::Segment> segment_;
};

struct SharedTensors {
  std::vector<at::Tensor> tensors;
  SharedMemory memory;
};

/// Creates zeros with the shapes, types and strides of `like`, which are dense CPU tensors. All ranks see what one
/// writes; the caller orders accesses with collectives. `own` are the slices that this rank writes most: it touches
/// them first, so that their pages are on its NUMA node. Together the slices of all ranks cover everything. Collective;
/// requires comm::memory_access().shared. Throws Error on all ranks if memory runs out. `what` appears in errors.
SharedTensors shared_zeros(const comm::Group& group, const std::vector<at::Tensor>& like, const std::vector<Slice>& own,
                           const std::string& what);

}  // namespace accelerate::sharding
