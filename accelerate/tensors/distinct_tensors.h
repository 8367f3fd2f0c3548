#pragma once

#include <unordered_set>
#include <vector>

#include <ATen/core/Tensor.h>

namespace accelerate::tensors {

/// The tensors in their order, each once: libtorch lists a tied parameter under each of its names, Python once.
inline std::vector<at::Tensor> distinct_tensors(std::vector<at::Tensor> tensors) {
  std::unordered_set<const c10::TensorImpl*> seen;
  std::erase_if(tensors, [&](const at::Tensor& tensor) { return !seen.insert(tensor.unsafeGetTensorImpl()).second; });
  return tensors;
}

}  // namespace accelerate::tensors
