#pragma once

// c10d's Reducer with the few things added that a hook without a wrapper needs. Private to this room.

#include <memory>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/reducer.hpp>

#include "accelerate/parallel/gradient_bucket.h"
#include "accelerate/parallel/replicas.h"

namespace accelerate::parallel {

class GradientReducer : public c10d::Reducer {
 public:
  /// `parameters` all require a gradient and are distinct; `kwargs` says whether gradients live in the buckets.
  GradientReducer(const std::vector<NamedTensor>& parameters,
                  const c10::intrusive_ptr<c10d::ProcessGroup>& process_group,
                  const DistributedDataParallelKwargs& kwargs);

  /// Averages buckets by `hook` from now on, which divides by the number of ranks itself. Once.
  void use_hook(std::unique_ptr<c10d::CommHookInterface> hook);

  /// Whether a hook averages gradients.
  bool has_hook() const { return has_hook_; }

  /// Orders the buckets as the gradients came.
  void rebuild_buckets();

  /// Leaves the buckets as they are, whatever the order in which gradients come.
  void keep_buckets() { has_rebuilt_bucket_ = true; }

  /// Takes back the announcement of a backward that did not reach this model.
  void disarm();

  /// Whether a backward brought some of the gradients it was expected to bring, and not all.
  bool is_unfinished() const;

  /// Forgets such a backward, so that another can follow. Waits for the reductions that have begun.
  void abandon();

  /// Averages the gradients there are, bucket by bucket, outside backward. A rank that does not contribute takes part
  /// with zeros and keeps its own gradients. Collective.
  void reduce_now(bool contribute);

  /// Sizes of the buckets with dense gradients.
  std::vector<size_t> bucket_bytes() const;

  /// The buckets with dense gradients, until they are rebuilt. For gradients that live in them.
  std::vector<GradientBucket> dense_buckets() const;

 private:
  void make_views_plain();
  void fill(Bucket& bucket);
  void fill_sparse(Bucket& bucket, bool contribute);
  void spread(Bucket& bucket, const at::Tensor& reduced, const at::Tensor& used);
  at::Tensor used_anywhere(bool contribute);

  DistributedDataParallelKwargs kwargs_;
  bool has_hook_ = false;
};

}  // namespace accelerate::parallel
