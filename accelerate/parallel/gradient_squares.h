#pragma once

// The sum of the squares of averaged gradients, as it comes out of their reduction. Private to this room.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "accelerate/comm/group.h"
#include "accelerate/comm/reduction_watch.h"
#include "accelerate/parallel/gradient_bucket.h"
#include "accelerate/parallel/replicas.h"

namespace accelerate::parallel {

class GradientSquares {
 public:
  /// Follows the reductions of `buckets` from now on.
  GradientSquares(const comm::Group& group, std::vector<GradientBucket> buckets);
  GradientSquares(const GradientSquares&) = delete;
  GradientSquares& operator=(const GradientSquares&) = delete;

  /// All buckets have been reduced: the gradients are those that the sums are of.
  void settle();

  /// Nothing where the gradients are not those of settle(), or the last reductions told no sum. That they told one does
  /// not say that they did so on other ranks.
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
