#pragma once

// Tensors of which a machine has one copy, which all ranks of a group see.

#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/exchange_shares.h"
#include "accelerate/comm/group.h"

namespace accelerate::shared_memory {
class Segment;
}

namespace accelerate::comm {

/// What the ranks of a group can do with each other's memory.
struct MemoryReach {
  bool common = false;  // have memory that all of them see
  bool direct = false;  // write to the private memory of each other, so that exchange_shares takes one copy
};

/// Found out by trying; nothing where ranks do not talk through the memory of one machine. The first call for a group
/// is collective.
MemoryReach memory_reach(const Group& group);

/// The memory behind some tensors. It lasts as long as they do, on every rank for itself.
class CommonMemory {
 public:
  explicit CommonMemory(std::weak_ptr<shared_memory::Segment> segment) : segment_(std::move(segment)) {}

  /// Whether `tensor` lies here.
  bool holds(const at::Tensor& tensor) const;

  /// Whether none of the tensors is left on this rank.
  bool is_gone() const { return segment_.expired(); }

  /// The tensors keep their values and are this rank's own from here on; a page is copied when it is first written to.
  /// No other rank may write to them as common ones afterwards.
  void make_private() const;

 private:
  std::weak_ptr<shared_memory::Segment> segment_;
};

struct CommonTensors {
  std::vector<at::Tensor> tensors;
  CommonMemory memory;
};

/// Zeros for each of `like`, which are dense and on the CPU: of its shape, type and strides. What a rank writes the
/// others see; when is for the caller to say, with a collective between. `own` are the parts that this rank is going to
/// write most, so that they lie near its cores; those of all ranks are everything. Collective, for ranks that
/// memory_reach() says can have it. Throws Error on all ranks when there is no memory. `what` appears in errors.
CommonTensors common_zeros(const Group& group, const std::vector<at::Tensor>& like, const std::vector<Part>& own,
                           const std::string& what);

}  // namespace accelerate::comm
