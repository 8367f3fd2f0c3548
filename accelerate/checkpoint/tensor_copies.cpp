#include "accelerate/checkpoint/tensor_copies.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

namespace accelerate::checkpoint {

at::Tensor TensorCopies::copy_of(const at::Tensor& tensor) {
  at::NoGradGuard no_grad;
  if (next_ == copies_.size()) copies_.emplace_back();
  auto& copy = copies_[next_++];
  bool fits = copy.defined() && copy.scalar_type() == tensor.scalar_type() && copy.sizes() == tensor.sizes();
  if (!fits) copy = at::empty(tensor.sizes(), tensor.options().device(at::kCPU));
  return copy.copy_(tensor);
}

}  // namespace accelerate::checkpoint
