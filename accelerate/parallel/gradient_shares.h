#pragma once

// Averaged gradients of which a rank keeps its share: the memory of the rest goes back to the system. Private to this
// room.

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

/// The whole pages of `bytes` bytes, from the start of a page on, that hold nothing of `kept`, which is in order.
std::vector<shared_memory::Range> pages_between(const std::vector<shared_memory::Range>& kept, size_t bytes,
                                                size_t page_bytes);

/// A bucket whose reduction is over is needed by nobody else: each rank gives back the pages that hold nothing of what
/// it keeps, while backward goes on. They get memory again when the next gradient comes.
class GradientShares {
 public:
  /// From now on. Buckets lie in memory that ranks share.
  GradientShares(const comm::Group& group, std::vector<GradientBucket> buckets, const KeptElements& kept);
  GradientShares(const GradientShares&) = delete;
  GradientShares& operator=(const GradientShares&) = delete;

  /// A gradient has come, which its parameter has. Throws Error where it was added to one of which most is gone. When
  /// it is to be copied `into_bucket`, there is memory for it afterwards; else an Error.
  void receive(const NamedTensor& parameter, bool into_bucket);

  /// Ranks keep everything of the gradients that come from now on. Those of which only shares are left are dropped;
  /// returns their number.
  size_t stop();

  /// Ranks keep shares again.
  void go_on() { stopped_ = false; }

 private:
  struct Place {
    at::Tensor view;
    bool releasable = false;  // in part
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
