#pragma once

// The parameters that ranks step together, each rank its share, and where the state of these shares is kept.

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

/// Which parameters of one optimizer are sharded. The averages that Adam and AdamW keep for one are whole, with one
/// copy for all ranks, where these can have common memory. Otherwise each rank keeps the state of its share, in one
/// dimension. The state of other parameters is whole and each rank's own.
class OptimizerSharding {
 public:
  OptimizerSharding() = default;
  OptimizerSharding(const OptimizerSharding&) = delete;
  OptimizerSharding& operator=(const OptimizerSharding&) = delete;
  ~OptimizerSharding();

  /// Shards the parameters that `replicas` keeps the same on its ranks: those of some size, since for small ones it
  /// costs less to step them on every rank. It takes the place of replicas of the same parameters, whose model was
  /// prepared anew. State that `optimizer` already has is cut, or waits for take_in(). Does nothing after end().
  void add(const std::shared_ptr<parallel::Replicas>& replicas, torch::optim::Optimizer& optimizer);

  /// Whether something may be sharded.
  bool is_on() const { return !ties_.empty(); }

  bool shards(const at::Tensor& parameter) const;

  /// Of the gradients of sharded parameters a rank keeps its share only, once they are averaged: see
  /// parallel::Replicas::keep_shares. For as long as this exists, or until end().
  void share_gradients();

  /// Whether the state of `parameter`, which is sharded, is whole, with one copy for all ranks.
  bool keeps_whole(const at::Tensor& parameter) const;

  /// The ranks. Only while something is sharded.
  const comm::Group& group() const;

  /// A view of what `rank` has of `tensor`, which is laid out as its parameter is. Of a rank that has nothing it is
  /// empty.
  at::Tensor share(const at::Tensor& tensor, int rank) const;

  /// A view of this rank's share of a tensor of the state of `parameter`.
  at::Tensor own_share(const at::Tensor& parameter, const at::Tensor& state) const;

  /// Makes those of `tensors` whole, with one copy for all ranks, that are not: undefined ones are zeros then.
  /// Collective if there are any. For parameters whose state is kept so.
  void take_in(const std::vector<StateTensor>& tensors) { common_.take_in(group(), tensors); }

  /// This rank's share of a state that was whole, where each rank keeps its own.
  at::Tensor cut(const at::Tensor& parameter, const at::Tensor& whole) const;

  /// The whole of a tensor of the state of `parameter`, laid out as that. Where each rank keeps its own share, a copy,
  /// and collective.
  at::Tensor whole(const at::Tensor& parameter, const at::Tensor& state) const;

  /// Whether this rank's gradients are not those of the others, so that it has to step on its own.
  bool gradients_are_local() const;

  /// Gives every rank a whole state of its own. From here on no parameter is sharded, and gradients are whole: those of
  /// which ranks kept shares are dropped, with a warning. Does not touch `optimizer` where its state is whole already.
  /// Collective.
  void end(torch::optim::Optimizer& optimizer);

 private:
  /// To a model some of whose parameters the optimizer steps.
  struct Tie {
    std::shared_ptr<parallel::Replicas> replicas;
    bool shares_gradients = false;
  };

  void forget_replaced_by(const parallel::Replicas& replicas, torch::optim::Optimizer& optimizer);
  at::Tensor gather(const at::Tensor& parameter, const at::Tensor& share) const;

  std::vector<Tie> ties_;
  CommonState common_;
  bool has_common_ = false;
  bool keeps_shares_ = false;  // of the state of some parameter
  bool ended_ = false;
};

/// Whether `optimizer` steps a parameter that `replicas` averages the gradient of.
bool steps_any_of(torch::optim::Optimizer& optimizer, const parallel::Replicas& replicas);

/// Whether ranks may share the step of `optimizer` without being asked: who reads the state does not notice, since it
/// is whole on every rank, and it pays, since each rank writes what it has stepped straight to the others and there is
/// enough of it. For Adam and AdamW. Not collective once memory_reach() of the ranks is known.
bool sharing_pays(torch::optim::Optimizer& optimizer, const parallel::Replicas& replicas);

}  // namespace accelerate::train
