#pragma once

// Copies of tensors that a save in the background writes while training goes on.

#include <ATen/core/Tensor.h>

#include <vector>

namespace accelerate::checkpoint {

/// Keeps the memory of its copies for the next round: the first use of memory costs many times what the copying does.
class TensorCopies {
 public:
  /// Begins a round. The copies of the one before are written over: nobody may need them any more.
  void begin() { next_ = 0; }

  /// A copy on the CPU.
  at::Tensor copy_of(const at::Tensor& tensor);

 private:
  std::vector<at::Tensor> copies_;
  size_t next_ = 0;
};

}  // namespace accelerate::checkpoint
