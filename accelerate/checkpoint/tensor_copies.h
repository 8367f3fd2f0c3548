#pragma once

// Copies of tensors that a save in the background writes while training goes on.

#include <ATen/core/Tensor.h>

#include <utility>
#include <vector>

namespace accelerate::checkpoint {

/// Keeps the memory of its copies for the next round: the first use of memory costs many times what the copying does.
class TensorCopies {
 public:
  /// Begins a round. The copies of the one before are written over: nobody may need them any more.
  void begin();

  /// A copy on the CPU, which has its values after finish(). Until then the tensor stays as it is.
  at::Tensor copy_of(const at::Tensor& tensor);

  /// Copies all that the round asked for, on several threads, because training waits.
  void finish();

 private:
  std::vector<at::Tensor> copies_;
  size_t next_ = 0;
  std::vector<std::pair<at::Tensor, at::Tensor>> waiting_;  // copies without values, and whose they get
};

}  // namespace accelerate::checkpoint
