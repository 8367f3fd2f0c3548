#pragma once

// A bucket of libtorch's Reducer. Private to this room.

#include <vector>

#include <ATen/core/Tensor.h>

namespace accelerate::parallel {

/// A flat buffer that one all-reduce averages. The gradients of its parameters are views of it.
struct GradientBucket {
  at::Tensor memory;
  std::vector<at::Tensor> parameters;
  std::vector<at::Tensor> views;  // the gradient of each parameter, if it has one
};

}  // namespace accelerate::parallel
