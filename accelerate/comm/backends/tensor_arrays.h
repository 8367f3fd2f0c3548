#pragma once

// Tensors as arrays for the collectives in shared memory. Private to this room.

#include <cstddef>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include "accelerate/shared_memory/collectives.h"

namespace accelerate::comm {

/// The single element of a list: c10d passes every tensor in one. Throws Error unless there is exactly one.
at::Tensor& only(std::vector<at::Tensor>& tensors);
std::vector<at::Tensor>& only(std::vector<std::vector<at::Tensor>>& lists);

/// Throws Error for a reduction that exists between GPUs only.
shared_memory::Reduction reduction_of(const c10d::ReduceOp& operation);

/// The tensor itself, or a complex tensor viewed as pairs of real numbers. That is correct for sums and averages;
/// throws Error for other reductions of complex numbers.
at::Tensor as_real(const at::Tensor& tensor, const c10d::ReduceOp& operation);

/// Throws Error if the operation does not support the type of the tensor.
void check_reduction(const at::Tensor& tensor, const c10d::ReduceOp& operation);

/// The contiguous form of a tensor: itself, or a copy that copy_back() writes back. Throws Error for a tensor that is
/// sparse or not on the CPU.
class ContiguousTensor {
 public:
  explicit ContiguousTensor(const at::Tensor& tensor);

  const at::Tensor& tensor() const { return tensor_; }
  std::byte* data() const { return static_cast<std::byte*>(tensor_.mutable_data_ptr()); }
  size_t bytes() const { return tensor_.nbytes(); }
  shared_memory::Array array() const;

  /// Copies the content to the original tensor if this is a copy. Call it when the content has changed.
  void copy_back() const;

  /// Splits the tensor into `size` parts, each with the size and type of `part`. Throws Error if the sizes do not
  /// match.
  shared_memory::Arrays parts(int size, const ContiguousTensor& part) const;

  /// The rows that each of `size` ranks sends or receives: `splits[rank]` rows, or equally many if `splits` is empty.
  std::vector<shared_memory::Array> rows(int size, const std::vector<int64_t>& splits) const;

 private:
  at::Tensor original_;
  at::Tensor tensor_;
};

/// One tensor per rank of the group, with the type and bytes of `like`. Throws Error if one differs or is missing.
class PerRankTensors {
 public:
  PerRankTensors(const std::vector<at::Tensor>& tensors, int size, const ContiguousTensor& like);

  shared_memory::Arrays arrays() const;
  void copy_back() const;

 private:
  std::vector<ContiguousTensor> tensors_;
};

}  // namespace accelerate::comm
