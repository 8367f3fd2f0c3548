#pragma once

// Tensors as the arrays that collectives through shared memory work on. Private to this room.

#include <cstddef>
#include <vector>

#include <ATen/core/Tensor.h>
#include <torch/csrc/distributed/c10d/Types.hpp>

#include "accelerate/shared_memory/collectives.h"

namespace accelerate::comm {

/// The one there is; c10d passes lists. Throws Error when there are more.
at::Tensor& only(std::vector<at::Tensor>& tensors);
std::vector<at::Tensor>& only(std::vector<std::vector<at::Tensor>>& lists);

/// Throws Error for a reduction that exists between GPUs only.
shared_memory::Reduction reduction_of(const c10d::ReduceOp& operation);

/// The tensor itself, or complex numbers as pairs of real ones, which are added alike. Throws Error for other
/// reductions of complex numbers.
at::Tensor as_real(const at::Tensor& tensor, const c10d::ReduceOp& operation);

/// Throws Error for a tensor whose values cannot be combined so.
void check_reduction(const at::Tensor& tensor, const c10d::ReduceOp& operation);

/// A tensor as a contiguous one: itself, or a copy whose content goes back where it came from. Throws Error for a
/// tensor that is sparse or not on the CPU.
class ContiguousTensor {
 public:
  explicit ContiguousTensor(const at::Tensor& tensor);

  const at::Tensor& tensor() const { return tensor_; }
  std::byte* data() const { return static_cast<std::byte*>(tensor_.mutable_data_ptr()); }
  size_t bytes() const { return tensor_.nbytes(); }
  shared_memory::Array array() const;

  /// To be called when the content has changed.
  void copy_back() const;

  /// One of `size` equal parts after the other, each as large as `part`. Throws Error when they are not.
  shared_memory::Arrays parts(int size, const ContiguousTensor& part) const;

  /// The rows that go to or come from each of `size` ranks: equally many unless `splits` says otherwise.
  std::vector<shared_memory::Array> rows(int size, const std::vector<int64_t>& splits) const;

 private:
  at::Tensor original_;
  at::Tensor tensor_;
};

/// The tensors of one rank for each of its peers, each of the type and size of `like`. Throws Error when they are not.
class PerRankTensors {
 public:
  PerRankTensors(const std::vector<at::Tensor>& tensors, int size, const ContiguousTensor& like);

  shared_memory::Arrays arrays() const;
  void copy_back() const;

 private:
  std::vector<ContiguousTensor> tensors_;
};

}  // namespace accelerate::comm
