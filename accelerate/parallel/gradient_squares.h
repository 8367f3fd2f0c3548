#pragma once

// The sum of the squares of averaged gradients, as it comes out of their reduction. Private to this room.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"
#include "accelerate/comm/reduction_watch.h"
#include "accelerate/parallel/replicas.h"

namespace accelerate::parallel {

/// Memory that is reduced at once, and whose gradients live in it.
struct GradientBucket {
  at::Tensor memory;
  std::vector<at::Tensor> parameters;
  std::vector<at::Tensor> views;  // what their gradients are, where they have some
};

class GradientSquares {
 public:
  /// Follows the reductions of `buckets` from now on.
  GradientSquares(const comm::Group& group, std::vector<GradientBucket> buckets);
  GradientSquares(const GradientSquares&) = delete;
  GradientSquares& operator=(const GradientSquares&) = delete;

  /// All buckets have been reduced: the gradients are those that the sums are of.
  void settle();

  /// Nothing unless all ranks followed the last reductions, and while the gradients are those of settle().
  std::optional<SumOfSquares> sum() const;

 private:
  /// A gradient as it was.
  struct Settled {
    bool defined = false;
    uint32_t version = 0;

    bool operator==(const Settled&) const = default;
  };
  std::optional<std::vector<Settled>> gradients() const;

  std::vector<GradientBucket> buckets_;
  std::vector<std::optional<double>> squares_;  // by bucket
  std::optional<std::vector<Settled>> settled_;
  std::vector<comm::ReductionWatch> watches_;
};

}  // namespace accelerate::parallel
