#pragma once

// Tensors as arrays for the collectives in shared memory. Private to this room.

#include <cstddef>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include "accelerate/shared_memory/collectives.h"

namespace accelerate::comm {

/// The only element; c10d passes lists. Throws Error unless there is exactly one.
at::Tensor& only(std::vector<at::Tensor>& tensors);
std::vector<at::Tensor>& only(std::vector<std::vector<at::Tensor>>& lists);

/// Throws Error for a reduction that exists between GPUs only.
shared_memory::Reduction reduction_of(const c10d::ReduceOp& operation);

/// The tensor itself, or a view of complex numbers as pairs of real ones, which add up alike. Throws Error for other
/// reductions of complex numbers.
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

  /// Call it when the content has changed.
  void copy_back() const;

  /// Cuts the tensor into `size` parts with the bytes and type of `part`. Throws Error if that does not fit.
  shared_memory::Arrays parts(int size, const ContiguousTensor& part) const;

  /// The rows for or from each of `size` ranks: as many as `splits` says, or equally many if it is empty.
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
