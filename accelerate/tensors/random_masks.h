#pragma once

// Masks of dropout, drawn many at a time. Every program that links the library gets them: `bernoulli_` with one
// probability, of which dropout makes its mask, has the numbers of libtorch's on the CPU to the bit.

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/core/Tensor.h>

namespace accelerate::tensors {

/// Sets each element of `mask` to 1 with `probability`, else to 0. Draws what libtorch's plain kernel draws from
/// `generator`, which is locked meanwhile. The mask is contiguous, on the CPU, and of a floating type.
void fill_mask(const at::Tensor& mask, double probability, at::CPUGeneratorImpl& generator);

}  // namespace accelerate::tensors
