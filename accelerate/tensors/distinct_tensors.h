#pragma once

// Removes duplicates, such as tied parameters, from a list of tensors.

#include <unordered_set>
#include <vector>

#include <ATen/core/Tensor.h>

namespace accelerate::tensors {

/// Returns each tensor once, in the given order. libtorch lists a tied parameter under each of its names, Python only
/// once.
inline std::vector<at::Tensor> distinct_tensors(std::vector<at::Tensor> tensors) {
  std::unordered_set<const c10::TensorImpl*> seen;
  std::erase_if(tensors, [&](const at::Tensor& tensor) { return !seen.insert(tensor.unsafeGetTensorImpl()).second; });
  return tensors;
}

}  // namespace accelerate::tensors
