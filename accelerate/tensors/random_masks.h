#pragma once

// Vectorized dropout masks, bit-identical to libtorch's.

#include <ATen/core/Tensor.h>
#include <ATen/CPUGeneratorImpl.h>

namespace accelerate::tensors {

/// Sets each element of `mask` to 1 with `probability`, else to 0. Locks `generator` and makes the same draws as
/// libtorch's kernel without MKL. The mask must be contiguous, on the CPU, and float or double.
void fill_mask(const at::Tensor& mask, double probability, at::CPUGeneratorImpl& generator);

/// Replaces libtorch's CPU kernel of `bernoulli_(p)`, which dropout uses, by `fill_mask` for the rest of the process.
/// Masks that `fill_mask` does not support, and all masks if libtorch uses MKL here, still take libtorch's kernel. The
/// second call does nothing. No other thread may call `bernoulli_` meanwhile.
void install_mask_kernel();

}  // namespace accelerate::tensors
