#pragma once

// The parameters that ranks step together, each rank its share, and the state that each of them keeps for its share.

#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"
#include "accelerate/train/shares.h"

namespace torch::optim {
class Optimizer;
}
namespace accelerate::parallel {
class Replicas;
}

namespace accelerate::train {

/// Which parameters of one optimizer are sharded. The tensors of their state are the share of this rank, in one
/// dimension; those of other parameters are whole.
class OptimizerSharding {
 public:
  /// Shards the parameters that `replicas` keeps the same on its ranks: those of some size, since for small ones it
  /// costs less to step them on every rank. State that `optimizer` already has is cut. Does nothing after end().
  void add(const std::shared_ptr<parallel::Replicas>& replicas, torch::optim::Optimizer& optimizer);

  bool shards(const at::Tensor& parameter) const;

  /// The ranks. Only while something is sharded.
  const comm::Group& group() const;

  /// A view of what `rank` has of `tensor`, which is laid out as its parameter is. Of a rank that has nothing it is
  /// empty.
  at::Tensor share(const at::Tensor& tensor, int rank) const;

  /// This rank's share of a state that was whole.
  at::Tensor cut(const at::Tensor& parameter, const at::Tensor& whole) const;

  /// The whole, laid out as `parameter`, of which each rank has its `share`. Collective.
  at::Tensor gather(const at::Tensor& parameter, const at::Tensor& share) const;

  /// Whether this rank's gradients are not those of the others, so that it has to step on its own.
  bool gradients_are_local() const;

  /// Gives every rank the whole state. From here on no parameter is sharded. Collective.
  void end(torch::optim::Optimizer& optimizer);

 private:
  std::vector<std::shared_ptr<parallel::Replicas>> replicas_;
  bool ended_ = false;
};

/// The elements of a dense tensor in the order of its memory.
at::Tensor flat_view(const at::Tensor& tensor);

}  // namespace accelerate::train
