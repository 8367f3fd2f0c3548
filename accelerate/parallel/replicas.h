#pragma once

// One model on several ranks, kept the same on all of them: it starts as rank 0's, and gradients are averaged over
// ranks while backward still computes the rest of them. Hooks on the parameters do it, so the model needs no wrapper.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"
#include "accelerate/parallel/comm_hook.h"
#include "accelerate/parallel/named_tensor.h"
#include "accelerate/parallel/power_sgd.h"
#include "accelerate/tensors/element_range.h"

namespace accelerate::parallel {

class Join;

/// In which form gradients travel between ranks: as they are, in half precision, or compressed. Python's
/// DDPCommunicationHookType. Own functions are given to register_comm_hook().
enum class CommHook { No, Fp16, Bf16, PowerSGD, BatchedPowerSGD };

struct DistributedDataParallelKwargs {
  bool broadcast_buffers = true;        // buffers follow rank 0's from one training step to the next
  double bucket_cap_mb = 25;            // gradients are reduced in buckets of this many MiB, the first of at most 1
  bool find_unused_parameters = false;  // a loss may leave parameters out; costs a walk over the graph in each step
  // Gradients live in the buckets: one copy less, but one that is kept over a step changes. Unset: where ranks share
  // memory.
  std::optional<bool> gradient_as_bucket_view = std::nullopt;
  bool static_graph = false;  // every step uses the same parameters, equally often
  CommHook comm_hook = CommHook::No;
  CommHook comm_wrapper = CommHook::No;    // Fp16 or Bf16: the type in which the comm_hook gets gradients
  PowerSGDOptions comm_state_option = {};  // of PowerSGD and BatchedPowerSGD
};

/// What averaged gradients come to.
struct SumOfSquares {
  double sum = 0;
  size_t num_gradients = 0;
};

/// What this rank keeps of the gradient of a parameter.
using KeptElements = std::function<tensors::ElementRange(const at::Tensor& parameter)>;

/// The replicas of one model, seen from one rank. A training step calls, in the same order on every rank,
///
///   replicas.before_forward(model.is_training());
///   auto loss = ...;
///   replicas.arm(loss);
///   loss.backward();
///   replicas.after_backward();
///
/// Without arm() and average_unarmed() gradients stay local and add up, until a later armed backward averages the sum.
/// With several models in a loop all of them may be armed for each loss: those that the loss does not reach stay out of
/// it. In a group of one, and for a model whose parameters are all frozen, these calls do nothing. Destroying the
/// object takes its hooks off the parameters.
class Replicas {
 public:
  /// Overwrites parameters and buffers with rank 0's. Collective. Throws the same Error on every rank when the models
  /// or options differ between ranks. Parameters frozen now count as frozen for the life of the object.
  Replicas(const std::vector<NamedTensor>& parameters, const std::vector<NamedTensor>& buffers, comm::Group group,
           DistributedDataParallelKwargs kwargs = {});
  ~Replicas();

  /// Brings the buffers in step with rank 0's if a training forward may have changed them since they last were.
  /// Collective.
  void before_forward(bool training);

  /// The next backward averages gradients over ranks. `loss` is what backward is called on, on this rank. Collective.
  void arm(const at::Tensor& loss);

  /// Averages gradients by `hook` from now on. All ranks register the same one, before the first backward. Throws Error
  /// when there is one already, or when ranks keep shares of their gradients. Does nothing in a group of one. Not
  /// collective.
  void register_comm_hook(CommHookFunction hook);

  /// Ends what arm began. Throws Error naming the parameters left without a gradient where all were expected to get
  /// one.
  void after_backward();

  /// From now on a backward that was not armed averages gradients too, or no longer does: those of the whole model at
  /// its end, so that nothing of it overlaps the computation. Not collective; all ranks say the same.
  void average_unarmed(bool on);

  /// Whether the gradient of `parameter` is dense and averaged over the ranks. Not collective.
  bool averages(const at::Tensor& parameter) const;

  /// Whether gradients have come that were not averaged yet: from a backward that was not armed. Not collective.
  bool gradients_are_local() const;

  /// Whether sum_of_squares() may know something, which all ranks can tell alike: they share memory, gradients live in
  /// the buckets and are averaged, and no rank has run out of batches. Not collective.
  bool can_sum_squares() const;

  /// The sum of the squares of all gradients, which comes out of their reduction at no cost; the same number on every
  /// rank that knows it. Nothing where it is not known: the gradients were changed since the last backward, or this is
  /// the first call, from which on squares are collected. Where another rank did not collect, this one may know it
  /// nevertheless, so ranks have to agree before they use it. Not collective.
  std::optional<SumOfSquares> sum_of_squares();

  /// From now on this rank keeps, of each gradient that was averaged, what `kept` says, and gives the memory of the
  /// rest back to the system as soon as its bucket is reduced; what is not kept reads as zeros, but for some elements
  /// beside what is. A gradient then has to be dropped before the next backward that averages. Buckets stay in the
  /// order of the parameters. Throws Error where ranks do not share memory or gradients do not live in buckets. Ends
  /// when all who called it have called release_shares(). Not collective.
  void keep_shares(const KeptElements& kept);

  /// One of those who called keep_shares() no longer needs it. Not collective.
  void release_shares();

  /// From now on gradients are whole, for good and whoever calls keep_shares(). Those of which only shares are left are
  /// dropped; returns their number. Not collective.
  size_t keep_whole_gradients();

  /// The sum of `number` over the ranks that still train in a Join; nothing outside of one. Collective for these ranks.
  std::optional<int64_t> sum_in_join(int64_t number);

  const comm::Group& group() const;

  /// Sizes of the buckets of dense gradients in the order they are reduced; empty when there are none. They change
  /// once, after the first backward, to the order in which gradients come. Not collective.
  std::vector<size_t> bucket_bytes() const;

 private:
  friend class Join;
  void enter(Join* join, int index);  // announce collectives to `join` from now on, or to nobody
  void shadow_gradients();            // take part in the others' reduction without gradients of one's own
  void copy_buffers_from(int rank);
  void copy_model_from(int rank);

  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace accelerate::parallel

namespace accelerate {
using parallel::CommHook;
using DDPCommunicationHookType = parallel::CommHook;
using parallel::DistributedDataParallelKwargs;
using parallel::Replicas;
}  // namespace accelerate
