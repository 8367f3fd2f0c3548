#pragma once

// Pairwise summation in NumPy's order, for small rounding errors and bit-identical sums. Private to this room.

#include <cstddef>
#include <span>

namespace accelerate::metrics {

/// Higham, "The accuracy of floating point summation" (1993): halves recursively down to blocks, with eight partial
/// sums per block.
inline double pairwise_sum(std::span<const double> values) {
  constexpr size_t kLanes = 8, kBlock = 128;
  if (values.size() > kBlock) {
    const size_t half = values.size() / 2 / kLanes * kLanes;
    return pairwise_sum(values.first(half)) + pairwise_sum(values.subspan(half));
  }
  if (values.size() < kLanes) {
    double sum = -0.0;
    for (const double value : values) sum += value;
    return sum;
  }
  double lanes[kLanes];
  for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] = values[lane];
  size_t next = kLanes;
  for (; next + kLanes <= values.size(); next += kLanes) {
    for (size_t lane = 0; lane < kLanes; ++lane) lanes[lane] += values[next + lane];
  }
  double sum = ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) + ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
  for (; next < values.size(); ++next) sum += values[next];
  return sum;
}

}  // namespace accelerate::metrics
