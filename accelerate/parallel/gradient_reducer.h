#pragma once

// Extends c10d's Reducer so that it works from hooks, without a wrapper module. Private to this room.

#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "accelerate/parallel/data_parallel_options.h"
#include "accelerate/parallel/named_tensor.h"

namespace accelerate::parallel {

/// A flat buffer that one all-reduce averages. The gradients of its parameters are views of it.
struct GradientBucket {
  at::Tensor memory;
  std::vector<at::Tensor> parameters;
  std::vector<at::Tensor> views;  // the gradient of each parameter, if it has one
};

/// Is told of the gradients of a model, see Replicas::observe_gradients.
class GradientObserver {
 public:
  virtual ~GradientObserver() = default;

  /// Called after a gradient was accumulated into `parameter`. With `into_bucket` it is copied into its bucket next, to
  /// be averaged.
  virtual void on_gradient(const NamedTensor& parameter, bool into_bucket) = 0;
};

class GradientReducer : public c10d::Reducer {
 public:
  /// All `parameters` require a gradient and are distinct. `kwargs` says whether gradients are views of the buckets.
  GradientReducer(const std::vector<NamedTensor>& parameters,
                  const c10::intrusive_ptr<c10d::ProcessGroup>& process_group,
                  const DistributedDataParallelKwargs& kwargs);

  /// Lets `hook` average the buckets. The hook divides by the world size itself. May be called once.
  void use_hook(std::unique_ptr<c10d::CommHookInterface> hook);

  /// Whether a communication hook averages gradients.
  bool has_hook() const { return has_hook_; }

  /// Orders the buckets by the arrival of gradients in the first backward.
  void rebuild_buckets();

  /// Keeps the current buckets: they are not rebuilt.
  void keep_buckets() { has_rebuilt_bucket_ = true; }

  /// Cancels prepare_for_backward() if the backward did not reach this model.
  void disarm();

  /// Whether a backward computed some of the expected gradients, but not all.
  bool is_unfinished() const;

  /// Resets the state after such a backward, so that another can follow. Waits for reductions in flight.
  void abandon();

  /// Averages the current gradients bucket by bucket, outside of backward. A rank with `contribute` off contributes
  /// zeros and keeps its own gradients. Collective.
  void reduce_now(bool contribute);

  /// The sizes of the buckets with dense gradients.
  std::vector<size_t> bucket_bytes() const;

  /// The buckets with dense gradients. Valid until they are rebuilt. Requires gradients that are views of them.
  std::vector<GradientBucket> dense_buckets() const;

 private:
  void make_views_plain();
  void fill(Bucket& bucket);
  void fill_sparse(Bucket& bucket, bool contribute);
  void scatter_to_gradients(Bucket& bucket, const at::Tensor& reduced, const at::Tensor& used);
  at::Tensor used_anywhere(bool contribute);

  DistributedDataParallelKwargs kwargs_;
  bool has_hook_ = false;
};

}  // namespace accelerate::parallel
