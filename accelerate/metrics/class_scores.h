#pragma once

// Classification scores, equal to those of scikit-learn. Private to this room.

#include <string>

#include "accelerate/metrics/confusion_matrix.h"
#include "accelerate/metrics/metric.h"

namespace accelerate::metrics {

/// Each computes one score of `matrix` and appends it to `scores`, under `name`.
void add_accuracy(const std::string& name, const ConfusionMatrix& matrix, const ComputeOptions& options,
                  Scores& scores);
void add_precision(const std::string& name, const ConfusionMatrix& matrix, const ComputeOptions& options,
                   Scores& scores);
void add_recall(const std::string& name, const ConfusionMatrix& matrix, const ComputeOptions& options, Scores& scores);
void add_f1(const std::string& name, const ConfusionMatrix& matrix, const ComputeOptions& options, Scores& scores);
void add_matthews(const std::string& name, const ConfusionMatrix& matrix, const ComputeOptions& options,
                  Scores& scores);

}  // namespace accelerate::metrics
