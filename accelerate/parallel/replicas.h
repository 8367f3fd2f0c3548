#pragma once

// Data parallelism without a wrapper module: ranks start with rank 0's model, and hooks on the parameters average
// gradients while backward still computes the others.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <unordered_set>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"
#include "accelerate/parallel/data_parallel_options.h"
#include "accelerate/parallel/distributed_model.h"
#include "accelerate/parallel/named_tensor.h"

namespace c10d {
class Logger;
}

namespace accelerate::parallel {

class GradientHooks;
class GradientObserver;
class GradientReducer;
class GradientSquares;
struct GradientBucket;

/// A model of which every rank has a replica. The destructor removes the hooks.
class Replicas final : public DistributedModel {
 public:
  /// Overwrites parameters and buffers with rank 0's. Collective. Throws the same Error on all ranks if models or
  /// options differ between ranks. Parameters that are frozen now count as frozen for the lifetime of the object.
  Replicas(const std::vector<NamedTensor>& parameters, const std::vector<NamedTensor>& buffers, comm::Group group,
           DistributedDataParallelKwargs kwargs = {});
  ~Replicas() override;

  void before_forward(bool training) override;
  void arm(const at::Tensor& loss) override;
  void after_backward() override;
  void average_unarmed(bool on) override { averages_unarmed_ = on; }
  void register_comm_hook(CommHookFunction hook) override;
  bool averages(const at::Tensor& parameter) const override { return dense_.contains(parameter.unsafeGetTensorImpl()); }
  bool gradients_are_local() const override;

  /// True if ranks share memory, all gradients are dense views of the buckets, averaged without a hook, and the model
  /// is not in a Join.
  bool can_sum_squares() const override;
  std::optional<SumOfSquares> sum_of_squares() override;
  std::optional<int64_t> sum_in_join(int64_t number) override;
  const comm::Group& group() const override { return group_; }
  int64_t gradient_bytes() const override;

  /// Makes an observer of the buckets of dense gradients and tells it of every gradient from then on. The buckets stay
  /// as they are: in the order of the parameters, in memory that ranks share, with gradients that are views of them.
  /// Throws Error if that is not so or if there is a communication hook, which is refused from then on. Does nothing in
  /// a group of one. Not collective.
  void observe_gradients(
      const std::function<std::unique_ptr<GradientObserver>(std::vector<GradientBucket> buckets)>& make_observer);

  /// Null before observe_gradients().
  GradientObserver* gradient_observer() const { return observer_.get(); }

  /// Sizes of the buckets of dense gradients, in the order of reduction; empty if there are none. They change once,
  /// when buckets are rebuilt after the first backward in the order of arrival. Not collective.
  std::vector<size_t> bucket_bytes() const;

 private:
  void enter(Join* join, size_t index) override;
  void shadow_gradients() override;
  void copy_buffers_from(int rank) override;
  void copy_model_from(int rank) override;

  void average_gradients_of(const std::vector<NamedTensor>& trainable);
  void rebuild_buckets();
  void reduce_now(bool contribute);
  void collect_squares();
  void on_gradient(const NamedTensor& parameter);
  void on_unarmed_gradient(const NamedTensor& parameter);
  void on_first_gradient();
  void end_unarmed();
  [[noreturn]] void fail_unused() const;

  comm::Group group_;
  DistributedDataParallelKwargs kwargs_;
  std::vector<NamedTensor> parameters_;
  std::vector<NamedTensor> buffers_;
  size_t num_trainable_ = 0;
  int64_t trainable_bytes_ = 0;
  std::unordered_set<const at::TensorImpl*> dense_;  // the trainable parameters with dense gradients
  std::unique_ptr<GradientHooks> gradient_hooks_;
  std::shared_ptr<GradientReducer> reducer_;  // null in a group of one, and without trainable parameters
  std::shared_ptr<c10d::Logger> logger_;
  std::unique_ptr<GradientObserver> observer_;
  std::unique_ptr<GradientSquares> squares_;  // set by the first sum_of_squares()

  bool buffers_stale_ = false;
  bool graph_declared_static_ = false;
  bool reduced_once_ = false;
  bool averages_unarmed_ = false;
  bool unarmed_ = false;  // an unarmed backward that is averaged is running

  Join* join_ = nullptr;
  size_t join_index_ = 0;
};

}  // namespace accelerate::parallel

namespace accelerate {
using parallel::Replicas;
}
