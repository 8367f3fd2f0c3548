#pragma once

// A bucket of libtorch's Reducer. Private to this room.

#include <vector>

#include <ATen/core/Tensor.h>

namespace accelerate::parallel {

/// Memory that is reduced at once, and whose gradients live in it.
struct GradientBucket {
  at::Tensor memory;
  std::vector<at::Tensor> parameters;
  std::vector<at::Tensor> views;  // what their gradients are, where they have some
};

}  // namespace accelerate::parallel
