#pragma once

// ZeRO-2: each rank keeps its shard of the averaged gradients and returns the pages of the rest to the system. Private
// to this room.

#include <cstddef>
#include <string>
#include <unordered_map>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"
#include "accelerate/comm/reduction_watch.h"
#include "accelerate/parallel/gradient_bucket.h"
#include "accelerate/parallel/replicas.h"
#include "accelerate/shared_memory/segment.h"

namespace accelerate::parallel {

/// The pages of a page-aligned buffer of `bytes` bytes that do not overlap any range of `kept`, which is sorted.
std::vector<shared_memory::Range> pages_between(const std::vector<shared_memory::Range>& kept, size_t bytes,
                                                size_t page_bytes);

/// Releases pages of a bucket as soon as its reduction is done, while backward continues: no rank reads them any more.
/// Keeps the pages with elements of this rank's shards. The next gradient commits memory again.
class GradientShares {
 public:
  /// Takes effect at once. The buckets are in shared memory.
  GradientShares(const comm::Group& group, std::vector<GradientBucket> buckets, const KeptElements& kept);
  GradientShares(const GradientShares&) = delete;
  GradientShares& operator=(const GradientShares&) = delete;

  /// Call after a gradient was accumulated into `parameter`. Throws Error if it was added to a gradient whose pages
  /// were released. With `into_bucket`, commits memory for the copy into the bucket; throws Error if that fails.
  void receive(const NamedTensor& parameter, bool into_bucket);

  /// Keeps later gradients whole. Drops gradients that are partly released; returns their number.
  size_t stop();

  /// Keeps shards only again.
  void go_on() { stopped_ = false; }

 private:
  struct Place {
    at::Tensor view;
    bool releasable = false;  // some of its pages are
    bool released = false;
  };
  void release(size_t bucket);

  std::vector<GradientBucket> buckets_;
  std::vector<std::vector<shared_memory::Range>> releasable_;  // by bucket
  std::unordered_map<const at::TensorImpl*, Place> places_;
  bool stopped_ = false;
  std::vector<comm::ReductionWatch> watches_;
};

}  // namespace accelerate::parallel
