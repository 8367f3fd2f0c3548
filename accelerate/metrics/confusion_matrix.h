#pragma once

// A confusion matrix, from which all classification scores are computed. Private to this room.

#include <cstdint>
#include <map>
#include <string_view>
#include <utility>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"

namespace accelerate::metrics {

class ConfusionMatrix {
 public:
  /// `metric` is the name in error messages.
  void add(const at::Tensor& predictions, const at::Tensor& references, std::string_view metric);

  /// The sum over all ranks. Collective.
  ConfusionMatrix gathered(const comm::Group& group) const;

  int64_t num_samples() const;
  int64_t num_correct() const;

  /// The counts of one class.
  struct Counts {
    double true_positives = 0, predictions = 0, references = 0;
  };

  /// The counts of every class that occurs, in ascending order.
  std::map<int64_t, Counts> by_class() const;

 private:
  std::map<std::pair<int64_t, int64_t>, int64_t> cells_;  // by reference and prediction; others are 0
};

}  // namespace accelerate::metrics
