#pragma once

// A bucket of libtorch's Reducer, and how other rooms follow the gradients in it.

#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/parallel/named_tensor.h"

namespace accelerate::parallel {

/// A flat buffer that one all-reduce averages. The gradients of its parameters are views of it.
struct GradientBucket {
  at::Tensor memory;
  std::vector<at::Tensor> parameters;
  std::vector<at::Tensor> views;  // the gradient of each parameter, if it has one
};

/// Is told of the gradients of a model, see Replicas::observe_gradients.
class GradientObserver {
 public:
  virtual ~GradientObserver() = default;

  /// Called after a gradient was accumulated into `parameter`. With `into_bucket` it is copied into its bucket next, to
  /// be averaged.
  virtual void on_gradient(const NamedTensor& parameter, bool into_bucket) = 0;
};

}  // namespace accelerate::parallel
