#pragma once

// Tensors in open files that are not yet read. Loading one into a tensor of the same type and layout needs no extra
// memory.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/base/file.h"

namespace accelerate::tensors {

/// The location of a tensor's elements in a file. Keeps the file open.
struct TensorLocation {
  std::shared_ptr<const File> file = {};
  uint64_t begin = 0;                 // of the first element, from the start of the file
  std::vector<int64_t> strides = {};  // in elements
  std::string name = {};              // for messages
  // The address of the tensor in Python, modulo 64. Python uses safetensors in location, in the mapped file.
  uint64_t misalignment = 0;
};

/// A tensor in a file, or one in memory with the same interface.
struct StoredTensor {
  at::ScalarType type = at::kFloat;
  std::vector<int64_t> shape = {};
  std::variant<TensorLocation, at::Tensor> source = {};

  /// Copies the values into a tensor of this shape, of any type and device. Reads straight into its memory if type and
  /// layout match. Throws Error naming the file if it was truncated since it was opened, or if a bool is neither 0 nor
  /// 1.
  void copy_into(const at::Tensor& destination) const;

  /// Reads the values into a new tensor on the CPU.
  at::Tensor read() const;

  /// Returns an uninitialized CPU tensor for the values, with the same misalignment as in Python. In kernels for one
  /// row or one label, rounding depends on the alignment of the weights.
  at::Tensor empty() const;
};

/// Tensors by name, in file order.
using StoredTensors = std::vector<std::pair<std::string, StoredTensor>>;

/// Runs copy_into() for many tensors, on several threads: copying from the page cache and first-touching the
/// destinations are bound by the CPU.
void copy_all(const std::vector<std::pair<at::Tensor, StoredTensor>>& destinations);

/// Fills a dense CPU tensor with the bytes of a file from `position` on, on several threads. Throws Error naming the
/// file and `tensor` if a bool is neither 0 nor 1.
void read_values(const File& file, uint64_t position, const at::Tensor& values, const std::string& tensor);

}  // namespace accelerate::tensors
