#include "accelerate/parallel/gradient_squares.h"

#include <algorithm>

namespace accelerate::parallel {

GradientSquares::GradientSquares(const comm::Group& group, std::vector<GradientBucket> buckets)
    : buckets_(std::move(buckets)), squares_(buckets_.size()) {
  for (size_t i = 0; i < buckets_.size(); ++i) {
    auto note = [this, i](std::optional<double> squares) {
      squares_[i] = squares;
      settled_.reset();
    };
    watches_.emplace_back(group, buckets_[i].memory,
                          comm::ReductionWatch::Options{.on_reduced = note, .sum_squares = true});
  }
}

void GradientSquares::settle() { settled_ = gradients(); }

std::optional<SumOfSquares> GradientSquares::sum() const {
  if (!settled_ || gradients() != settled_) return std::nullopt;
  SumOfSquares result;
  for (const auto& squares : squares_) {
    if (!squares) return std::nullopt;
    result.sum += *squares;
  }
  result.num_gradients =
      std::count_if(settled_->begin(), settled_->end(), [](const auto& each) { return each.defined; });
  return result;
}

/// Nothing if a gradient is not a view of its bucket. Version counters detect changes.
std::optional<std::vector<GradientSquares::Settled>> GradientSquares::gradients() const {
  std::vector<Settled> all;
  for (const auto& bucket : buckets_) {
    for (size_t i = 0; i < bucket.parameters.size(); ++i) {
      const auto& gradient = bucket.parameters[i].grad();
      if (gradient.defined() && !gradient.is_same(bucket.views[i])) return std::nullopt;
      all.push_back({gradient.defined(), static_cast<uint32_t>(bucket.views[i]._version())});
    }
  }
  return all;
}

}  // namespace accelerate::parallel
