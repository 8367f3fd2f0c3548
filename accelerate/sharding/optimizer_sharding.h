#pragma once

// Optimizer sharding (ZeRO, Rajbhandari et al. 2020): which parameters ranks step in shards, and where their state is
// kept.

#include <functional>
#include <memory>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"
#include "accelerate/sharding/shared_state.h"

namespace torch::optim {
class Optimizer;
class OptimizerParamState;
}  // namespace torch::optim
namespace accelerate::parallel {
class Replicas;
}

namespace accelerate::sharding {

/// Calls `visit` for every defined tensor of one parameter's state.
using ForEachStateTensor = void (*)(torch::optim::OptimizerParamState& state,
                                    const std::function<void(at::Tensor&)>& visit);

/// The sharded parameters of one optimizer. If ranks share memory, the moments that Adam and AdamW keep for a sharded
/// parameter are whole: one copy for all ranks. Otherwise each rank keeps the state of its shard, flat. Each rank keeps
/// the whole state of other parameters.
class OptimizerSharding {
 public:
  /// Nothing is sharded before add(). `optimizer` must outlive the object.
  OptimizerSharding(torch::optim::Optimizer& optimizer, ForEachStateTensor for_each_state_tensor)
      : optimizer_(optimizer), for_each_state_tensor_(for_each_state_tensor) {}
  OptimizerSharding(const OptimizerSharding&) = delete;
  OptimizerSharding& operator=(const OptimizerSharding&) = delete;
  ~OptimizerSharding();

  /// Shards the parameters of `replicas`, except small ones, which cost less to step on every rank. Replaces earlier
  /// replicas of the same parameters, whose model was prepared again. Existing state of the optimizer is cut to the
  /// shard, or moved by move_to_shared_memory() later. Does nothing after end().
  void add(const std::shared_ptr<parallel::Replicas>& replicas);

  /// Whether any parameter may be sharded.
  bool is_active() const { return !models_.empty(); }

  bool shards(const at::Tensor& parameter) const;

  /// ZeRO-2: ranks keep only their shards of averaged gradients of sharded parameters, see gradient_shards.h. Lasts
  /// until end() or the destructor.
  void shard_gradients();

  /// Whether the state of a sharded parameter is whole, in memory that all ranks share.
  bool has_shared_state(const at::Tensor& parameter) const;

  /// The group of ranks. Requires is_active().
  const comm::Group& group() const;

  /// A view of this rank's shard of `tensor`, which has the layout of its parameter. May be empty.
  at::Tensor own_shard(const at::Tensor& tensor) const;

  /// A view of this rank's shard of a tensor of the state of `parameter`.
  at::Tensor own_shard_of_state(const at::Tensor& parameter, const at::Tensor& state) const;

  /// Moves state of sharded parameters into shared memory, unless it is there already. Undefined tensors become zeros.
  /// Collective if there is any to move. For parameters with shared state.
  void move_to_shared_memory(const std::vector<StateTensor>& tensors);

  /// A copy of this rank's shard of a whole state. For parameters whose state is kept in shards.
  at::Tensor copy_own_shard(const at::Tensor& parameter, const at::Tensor& whole) const;

  /// The whole of a tensor of the state of `parameter`, with the layout of the parameter: the tensor itself if ranks
  /// share it; otherwise a copy, all-gathered from the shards. Collective then.
  at::Tensor gather(const at::Tensor& parameter, const at::Tensor& state) const;

  /// Whether gradients of this rank were not averaged, so that it must step without the others.
  bool gradients_are_local() const;

  /// Gives every rank the whole state and ends the sharding permanently. Gradients are whole from then on; those that
  /// ranks kept in shards are dropped, with a warning. Does not touch the optimizer if its state is whole already.
  /// Collective.
  void end();

 private:
  /// A model with parameters that this optimizer steps.
  struct ShardedModel {
    std::shared_ptr<parallel::Replicas> replicas;
    bool shards_gradients = false;
  };

  template <class Visit>
  void for_each_sharded_parameter(Visit visit) const;
  template <class Visit>
  void for_each_sharded_state(Visit visit) const;
  void remove_replaced_by(const parallel::Replicas& replicas);

  torch::optim::Optimizer& optimizer_;
  ForEachStateTensor for_each_state_tensor_;
  std::vector<ShardedModel> models_;
  SharedState shared_state_;
  bool shares_memory_ = false;       // the state of parameters on the CPU is in shared memory
  bool keeps_state_shards_ = false;  // the state of some parameter is kept in shards
  bool ended_ = false;
};

/// Whether `optimizer` steps a parameter whose gradient `replicas` averages.
bool steps_any_of(torch::optim::Optimizer& optimizer, const parallel::Replicas& replicas);

/// Whether to shard the step of `optimizer` by default. It must be safe: every rank can still read the whole state. It
/// must be faster: ranks write results directly to each other's memory, and there are enough parameters. True for Adam
/// and AdamW only. Not collective once memory_access() of the ranks is known.
bool sharding_pays(torch::optim::Optimizer& optimizer, const parallel::Replicas& replicas);

}  // namespace accelerate::sharding
