#pragma once

// Vectorized dropout masks. Linking the library replaces libtorch's CPU kernel of `bernoulli_(p)`, which dropout uses.
// The results are the same to the bit.

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>

namespace accelerate::tensors {

/// Sets each element of `mask` to 1 with `probability`, else to 0. Locks `generator` and makes the same draws as
/// libtorch's kernel without MKL. The mask must be contiguous, on the CPU, and float or double.
void fill_mask(const at::Tensor& mask, double probability, at::CPUGeneratorImpl& generator);

}  // namespace accelerate::tensors
