#pragma once

// Data parallelism without a wrapper module: ranks start with rank 0's model, and hooks on the parameters average
// gradients while backward still computes the others.

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

/// How gradients are sent between ranks: as they are, in half precision, or compressed. Python's
/// DDPCommunicationHookType. For custom functions see register_comm_hook().
enum class CommHook { No, Fp16, Bf16, PowerSGD, BatchedPowerSGD };

struct DistributedDataParallelKwargs {
  bool broadcast_buffers = true;        // broadcast rank 0's buffers between training steps
  double bucket_cap_mb = 25;            // size of a bucket in MiB; the first has at most 1
  bool find_unused_parameters = false;  // a loss may leave parameters out; traverses the graph in each step
  // Gradients are views of the buckets. Saves a copy, but a gradient kept from an earlier step changes. Default: on if
  // ranks share memory.
  std::optional<bool> gradient_as_bucket_view = std::nullopt;
  bool static_graph = false;  // every step uses the same parameters, equally often
  CommHook comm_hook = CommHook::No;
  CommHook comm_wrapper = CommHook::No;    // Fp16 or Bf16: the type in which comm_hook gets gradients
  PowerSGDOptions comm_state_option = {};  // for PowerSGD and BatchedPowerSGD
};

/// The sum of squares of all averaged gradients.
struct SumOfSquares {
  double sum = 0;
  size_t num_gradients = 0;
};

/// The slice of a parameter's gradient that this rank keeps.
using KeptElements = std::function<tensors::ElementRange(const at::Tensor& parameter)>;

/// The replicas of one model, seen from one rank. In a training step all ranks call in the same order:
///
///   replicas.before_forward(model.is_training());
///   auto loss = ...;
///   replicas.arm(loss);
///   loss.backward();
///   replicas.after_backward();
///
/// Without arm() or average_unarmed(), gradients stay local and accumulate until a later armed backward averages the
/// sum. With several models, all of them may be armed for each loss: a model that the loss does not reach is left out.
/// In a group of one, and for a model without trainable parameters, these calls do nothing. The destructor removes the
/// hooks.
class Replicas {
 public:
  /// Overwrites parameters and buffers with rank 0's. Collective. Throws the same Error on all ranks if models or
  /// options differ between ranks. Parameters that are frozen now count as frozen for the lifetime of the object.
  Replicas(const std::vector<NamedTensor>& parameters, const std::vector<NamedTensor>& buffers, comm::Group group,
           DistributedDataParallelKwargs kwargs = {});
  ~Replicas();

  /// Broadcasts rank 0's buffers if a training forward may have changed them since the last broadcast. Collective.
  void before_forward(bool training);

  /// Makes the next backward average gradients over ranks. `loss` is this rank's root of backward. Collective.
  void arm(const at::Tensor& loss);

  /// Lets `hook` average gradients. All ranks register the same hook, before the first backward. Throws Error if the
  /// model already has a hook, or if ranks keep only shards of gradients. Does nothing in a group of one. Not
  /// collective.
  void register_comm_hook(CommHookFunction hook);

  /// Completes an armed backward. Throws Error naming the parameters without a gradient if all were expected to get
  /// one.
  void after_backward();

  /// Turns averaging of unarmed backwards on or off. Such a backward averages all gradients at its end, without
  /// overlap. Not collective; all ranks pass the same value.
  void average_unarmed(bool on);

  /// Whether the gradient of `parameter` is dense and averaged over the ranks. Not collective.
  bool averages(const at::Tensor& parameter) const;

  /// Whether an unarmed backward has left gradients that are not averaged yet. Not collective.
  bool gradients_are_local() const;

  /// Whether sum_of_squares() may return a value. The same on all ranks: true if they share memory, all gradients are
  /// dense views of the buckets, averaged without a hook, and the model is not in a Join. Not collective.
  bool can_sum_squares() const;

  /// The sum of squares of all gradients, a by-product of their all-reduce. All ranks with a value have the same.
  /// Returns nothing if the gradients changed since the last backward, and on the first call, which starts the
  /// collection. Another rank may have no value, so ranks must agree before they use it. Not collective.
  std::optional<SumOfSquares> sum_of_squares();

  /// Lets this rank keep only the slice `kept` of each averaged gradient. The pages of the rest are released as soon as
  /// the bucket is reduced and read as zeros, except for elements on the same page as the slice. Gradients must be
  /// dropped before the next averaging backward. Buckets keep the order of the parameters. Throws Error if ranks do not
  /// share memory, gradients are not views of the buckets, or there is a communication hook. Lasts until every caller
  /// has called release_shares(). Not collective.
  void keep_shares(const KeptElements& kept);

  /// Ends one call of keep_shares(). Not collective.
  void release_shares();

  /// Keeps gradients whole permanently, even if keep_shares() is called. Drops gradients that are partly released;
  /// returns their number. Not collective.
  size_t keep_whole_gradients();

  /// The sum of `number` over the ranks that still train in a Join; nothing outside of a Join. Collective for these
  /// ranks.
  std::optional<int64_t> sum_in_join(int64_t number);

  const comm::Group& group() const;

  /// Sizes of the buckets of dense gradients, in the order of reduction; empty if there are none. They change once,
  /// when buckets are rebuilt after the first backward in the order of arrival. Not collective.
  std::vector<size_t> bucket_bytes() const;

 private:
  friend class Join;
  void enter(Join* join, int index);  // announces collectives to `join`; null ends it
  void shadow_gradients();            // takes part in a reduction with zeros
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
