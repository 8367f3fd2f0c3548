#pragma once

// Tensors in files that were opened and not yet read: loading them takes the memory of their destinations alone.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/base/file.h"

namespace accelerate::tensors {

/// Where a file, which stays open as long as it is needed, has the elements of a tensor.
struct TensorPlace {
  std::shared_ptr<const File> file = {};
  uint64_t begin = 0;                 // of the first element, from the start of the file
  std::vector<int64_t> strides = {};  // in elements
  std::string name = {};              // for messages
  // Bytes by which the address of Python's tensor misses a multiple of 64: it uses safetensors where they lie in the
  // mapped file.
  uint64_t misalignment = 0;
};

/// One tensor of a file, or one in memory that is treated alike.
struct StoredTensor {
  at::ScalarType type = at::kFloat;
  std::vector<int64_t> shape = {};
  std::variant<TensorPlace, at::Tensor> source = {};

  /// Copies the values into a tensor of that shape, of any type and device; straight into its memory where that is
  /// possible. Throws Error naming the file when it has become shorter since it was opened, or when a bool in it is
  /// neither 0 nor 1.
  void copy_into(const at::Tensor& destination) const;

  /// The values, in a new tensor on the CPU.
  at::Tensor read() const;

  /// A tensor for the values on the CPU, not yet filled, as misaligned as Python's. Kernels for one row or one label
  /// round by the alignment of the weights.
  at::Tensor empty() const;
};

/// By name, in the order of the file.
using StoredTensors = std::vector<std::pair<std::string, StoredTensor>>;

/// copy_into() for many tensors, on several threads: to copy from the system's cache and to use memory for the first
/// time is work for a processor.
void copy_all(const std::vector<std::pair<at::Tensor, StoredTensor>>& destinations);

/// Fills a tensor on the CPU whose elements lie in its memory without gaps with the bytes of a file from `position` on,
/// on several threads. Throws Error naming the file and `tensor` when a bool is neither 0 nor 1.
void read_values(const File& file, uint64_t position, const at::Tensor& values, const std::string& tensor);

}  // namespace accelerate::tensors
