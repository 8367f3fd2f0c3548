#pragma once

// The interface between a prepared model and the strategy with which ranks train it, such as replicas.

#include <cstddef>
#include <cstdint>
#include <optional>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"
#include "accelerate/parallel/comm_hook.h"

namespace accelerate::parallel {

class Join;

/// The sum of squares of all averaged gradients.
struct SumOfSquares {
  double sum = 0;
  size_t num_gradients = 0;
};

/// A model that several ranks train, seen from one rank. In a training step all ranks call in the same order:
///
///   distributed.before_forward(model.is_training());
///   auto loss = ...;
///   distributed.arm(loss);
///   loss.backward();
///   distributed.after_backward();
///
/// Without arm() or average_unarmed(), gradients stay local and accumulate until a later armed backward averages the
/// sum. With several models, all of them may be armed for each loss: a model that the loss does not reach is left out.
/// In a group of one, and for a model without trainable parameters, these calls do nothing.
class DistributedModel {
 public:
  DistributedModel() = default;
  DistributedModel(const DistributedModel&) = delete;
  DistributedModel& operator=(const DistributedModel&) = delete;
  virtual ~DistributedModel() = default;

  /// Broadcasts rank 0's buffers if a training forward may have changed them since the last broadcast. Collective.
  virtual void before_forward(bool training) = 0;

  /// Makes the next backward average gradients over ranks. `loss` is this rank's root of backward. Collective.
  virtual void arm(const at::Tensor& loss) = 0;

  /// Completes an armed backward. Throws Error naming the parameters without a gradient if all were expected to get
  /// one.
  virtual void after_backward() = 0;

  /// Turns averaging of unarmed backwards on or off. Such a backward averages all gradients at its end, without
  /// overlap. Not collective; all ranks pass the same value.
  virtual void average_unarmed(bool on) = 0;

  /// Lets `hook` average gradients. All ranks register the same hook, before the first backward. Throws Error if the
  /// model already has a hook, or if ranks keep only shards of gradients. Does nothing in a group of one. Not
  /// collective.
  virtual void register_comm_hook(CommHookFunction hook) = 0;

  /// Whether the gradient of `parameter` is dense and averaged over the ranks. Not collective.
  virtual bool averages(const at::Tensor& parameter) const = 0;

  /// Whether an unarmed backward has left gradients that are not averaged yet. Not collective.
  virtual bool gradients_are_local() const = 0;

  /// Whether sum_of_squares() may return a value. The same on all ranks. Not collective.
  virtual bool can_sum_squares() const = 0;

  /// The sum of squares of all gradients, a by-product of their reduction. All ranks with a value have the same.
  /// Returns nothing if the gradients changed since the last backward, and on the first call, which starts the
  /// collection. Another rank may have no value, so ranks must agree before they use it. Not collective.
  virtual std::optional<SumOfSquares> sum_of_squares() = 0;

  /// The sum of `number` over the ranks that still train in a Join; nothing outside of a Join. Collective for these
  /// ranks.
  virtual std::optional<int64_t> sum_in_join(int64_t number) = 0;

  virtual const comm::Group& group() const = 0;

  /// The size of the dense gradients that an armed backward reduces. Not collective.
  virtual int64_t gradient_bytes() const = 0;

 private:
  friend class Join;
  virtual void enter(Join* join, size_t index) = 0;  // announces collectives to `join`; null ends it
  virtual void shadow_gradients() = 0;               // takes part in a reduction with zeros
  virtual void copy_buffers_from(int rank) = 0;
  virtual void copy_model_from(int rank) = 0;
};

}  // namespace accelerate::parallel
