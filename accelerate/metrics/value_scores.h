#pragma once

// Pairs of predicted and right numbers, and their scores with the numbers of scipy and scikit-learn. Private to this
// room.

#include <string>
#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"
#include "accelerate/metrics/metric.h"

namespace accelerate::metrics {

struct ValuePairs {
  std::vector<double> predictions, references;

  /// `metric` is named in errors.
  void add(const at::Tensor& more_predictions, const at::Tensor& more_references, std::string_view metric);

  /// Those of all ranks, in rank order. A correlation cannot be put together from those of the ranks. Collective.
  ValuePairs gathered(const comm::Group& group) const;
};

/// NaN where one side is constant. Throws Error for one sample, as scipy does.
void add_pearson(const std::string& name, const ValuePairs& pairs, const ComputeOptions& options, Scores& scores);

/// Pearson's of the ranks, where equal numbers share the mean of theirs. NaN where one side is constant, for one sample
/// and where a number is NaN.
void add_spearman(const std::string& name, const ValuePairs& pairs, const ComputeOptions& options, Scores& scores);

/// The mean of the squared or absolute differences.
void add_mse(const std::string& name, const ValuePairs& pairs, const ComputeOptions& options, Scores& scores);
void add_mae(const std::string& name, const ValuePairs& pairs, const ComputeOptions& options, Scores& scores);

}  // namespace accelerate::metrics
