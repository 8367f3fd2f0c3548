#pragma once

// Scores of numbers, with those of scipy and scikit-learn. Private to this room.

#include <string>

#include "accelerate/metrics/metric.h"
#include "accelerate/metrics/value_pairs.h"

namespace accelerate::metrics {

/// NaN where one side is constant. Throws Error for one sample, as scipy does.
void add_pearson(const std::string& name, const ValuePairs& pairs, const ComputeOptions& options, Scores& scores);

/// Pearson's of the ranks, where equal numbers share the mean of theirs. NaN where one side is constant, for one sample
/// and where a number is NaN.
void add_spearman(const std::string& name, const ValuePairs& pairs, const ComputeOptions& options, Scores& scores);

void add_mse(const std::string& name, const ValuePairs& pairs, const ComputeOptions& options, Scores& scores);
void add_mae(const std::string& name, const ValuePairs& pairs, const ComputeOptions& options, Scores& scores);

}  // namespace accelerate::metrics
