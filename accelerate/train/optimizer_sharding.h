#pragma once

// Optimizer sharding (ZeRO, Rajbhandari et al. 2020): which parameters ranks step in shards, and where their state is
// kept.

#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"
#include "accelerate/train/common_state.h"
#include "accelerate/train/shares.h"

namespace torch::optim {
class Optimizer;
}
namespace accelerate::parallel {
class Replicas;
}

namespace accelerate::train {

/// The sharded parameters of one optimizer. If ranks share memory, the moments that Adam and AdamW keep for a sharded
/// parameter are whole: one copy for all ranks. Otherwise each rank keeps the state of its shard, flat. Each rank keeps
/// the whole state of other parameters.
class OptimizerSharding {
 public:
  OptimizerSharding() = default;
  OptimizerSharding(const OptimizerSharding&) = delete;
  OptimizerSharding& operator=(const OptimizerSharding&) = delete;
  ~OptimizerSharding();

  /// Shards the parameters of `replicas`, except small ones, which cost less to step on every rank. Replaces earlier
  /// replicas of the same parameters, whose model was prepared again. Existing state of `optimizer` is cut to the
  /// shard, or moved by take_in() later. Does nothing after end().
  void add(const std::shared_ptr<parallel::Replicas>& replicas, torch::optim::Optimizer& optimizer);

  /// Whether any parameter may be sharded.
  bool is_on() const { return !ties_.empty(); }

  bool shards(const at::Tensor& parameter) const;

  /// ZeRO-2: ranks keep only their shards of averaged gradients of sharded parameters, see
  /// parallel::Replicas::keep_shares. Lasts until end() or the destructor.
  void share_gradients();

  /// Whether the state of a sharded parameter is whole, with one copy for all ranks.
  bool keeps_whole(const at::Tensor& parameter) const;

  /// The group of ranks. Requires that something is sharded.
  const comm::Group& group() const;

  /// A view of the shard of `rank` in `tensor`, which has the layout of its parameter. May be empty.
  at::Tensor share(const at::Tensor& tensor, int rank) const;

  /// A view of this rank's shard of a tensor of the state of `parameter`.
  at::Tensor own_share(const at::Tensor& parameter, const at::Tensor& state) const;

  /// Moves state of sharded parameters into the shared memory, unless it is there already. Undefined tensors become
  /// zeros. Collective if there is any to move. For parameters whose state is kept whole.
  void take_in(const std::vector<StateTensor>& tensors) { common_.take_in(group(), tensors); }

  /// A copy of this rank's shard of a whole state. For parameters whose state is kept in shards.
  at::Tensor cut(const at::Tensor& parameter, const at::Tensor& whole) const;

  /// The whole of a tensor of the state of `parameter`, with the layout of the parameter. If each rank keeps its shard,
  /// a gathered copy; collective then.
  at::Tensor whole(const at::Tensor& parameter, const at::Tensor& state) const;

  /// Whether gradients of this rank were not averaged, so that it must step without the others.
  bool gradients_are_local() const;

  /// Gives every rank the whole state and ends the sharding permanently. Gradients are whole from then on; those that
  /// ranks kept in shards are dropped, with a warning. Does not touch `optimizer` if its state is whole already.
  /// Collective.
  void end(torch::optim::Optimizer& optimizer);

 private:
  /// A model with parameters that this optimizer steps.
  struct Tie {
    std::shared_ptr<parallel::Replicas> replicas;
    bool shares_gradients = false;
  };

  void forget_replaced_by(const parallel::Replicas& replicas, torch::optim::Optimizer& optimizer);
  at::Tensor gather(const at::Tensor& parameter, const at::Tensor& share) const;

  std::vector<Tie> ties_;
  CommonState common_;
  bool has_common_ = false;
  bool keeps_shares_ = false;  // the state of some parameter is kept in shards
  bool ended_ = false;
};

/// Whether `optimizer` steps a parameter whose gradient `replicas` averages.
bool steps_any_of(torch::optim::Optimizer& optimizer, const parallel::Replicas& replicas);

/// Whether to shard the step of `optimizer` by default. It must be invisible: the state stays whole on every rank. It
/// must pay: ranks write results directly to each other's memory, and there are enough parameters. True for Adam and
/// AdamW only. Not collective once memory_reach() of the ranks is known.
bool sharing_pays(torch::optim::Optimizer& optimizer, const parallel::Replicas& replicas);

}  // namespace accelerate::train
