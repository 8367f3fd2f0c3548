#pragma once

// Copies of tensors, for a background save to write while training continues.

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

namespace accelerate::checkpoint {

/// Reuses the memory of its copies in the next round: first touch costs many times more than copying.
class TensorCopies {
 public:
  /// Begins a round. It overwrites the copies of the previous one, so these must no longer be in use.
  void begin();

  /// Returns a copy on the CPU, filled by finish(). The tensor must not change before that.
  at::Tensor copy_of(const at::Tensor& tensor);

  /// Fills all copies of the round, on several threads because training waits.
  void finish();

 private:
  std::vector<at::Tensor> copies_;
  size_t next_ = 0;
  std::vector<std::pair<at::Tensor, at::Tensor>> waiting_;  // copies to fill, with their sources
};

}  // namespace accelerate::checkpoint
