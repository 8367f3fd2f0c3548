#pragma once

// Tensors in files that were opened and not yet read: loading them takes the memory of their destinations alone.

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/base/file.h"

namespace accelerate::tensors {

/// One tensor of a file, which stays open as long as it is needed.
struct StoredTensor {
  at::ScalarType type = at::kFloat;
  std::vector<int64_t> shape = {};
  /// Copies the values into a tensor of that shape, of any type and device; straight into its memory where that is
  /// possible. Throws Error naming the file when it has become shorter since it was opened.
  std::function<void(at::Tensor& destination)> copy_into = {};

  /// The values, in a new tensor on the CPU.
  at::Tensor read() const;
};

/// By name, in the order of the file.
using StoredTensors = std::vector<std::pair<std::string, StoredTensor>>;

/// Fills a tensor on the CPU whose elements lie in its memory without gaps with the bytes of a file from `position` on.
/// Throws Error naming the file and `tensor` when a bool is neither 0 nor 1.
void read_values(const File& file, uint64_t position, at::Tensor& values, const std::string& tensor);

}  // namespace accelerate::tensors
