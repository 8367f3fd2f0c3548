#pragma once

// The sum of squares of averaged gradients, a by-product of their all-reduce. Private to this room.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "accelerate/comm/group.h"
#include "accelerate/comm/reduction_watch.h"
#include "accelerate/parallel/distributed_model.h"
#include "accelerate/parallel/gradient_reducer.h"

namespace accelerate::parallel {

class GradientSquares {
 public:
  /// Observes the all-reduces of `buckets`.
  GradientSquares(const comm::Group& group, std::vector<GradientBucket> buckets);
  GradientSquares(const GradientSquares&) = delete;
  GradientSquares& operator=(const GradientSquares&) = delete;

  /// Call when all buckets have been reduced: remembers the gradients that the sums belong to.
  void settle();

  /// Nothing if the gradients changed since settle(), or if the last reductions computed no sum. Other ranks may have
  /// none even if this one has.
  std::optional<SumOfSquares> sum() const;

 private:
  /// A gradient at the time of settle().
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
