#pragma once

// Predicted numbers beside the right ones: what metrics of numbers are made of. Private to this room.

#include <string_view>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/comm/group.h"

namespace accelerate::metrics {

struct ValuePairs {
  std::vector<double> predictions, references;

  /// `metric` is named in errors.
  void add(const at::Tensor& more_predictions, const at::Tensor& more_references, std::string_view metric);

  /// Those of all ranks, in rank order. A correlation cannot be put together from those of the ranks. Collective.
  ValuePairs gathered(const comm::Group& group) const;
};

}  // namespace accelerate::metrics
