#pragma once

// Removes duplicates, such as tied parameters, from a list of tensors.

#include <functional>
#include <unordered_set>
#include <vector>

#include <ATen/core/Tensor.h>

namespace accelerate::tensors {

/// Returns each tensor once, in the given order. libtorch lists a tied parameter under each of its names, Python only
/// once. For a list of other elements, `tensor_of` returns the tensor of one.
template <class T, class TensorOf = std::identity>
std::vector<T> distinct_tensors(std::vector<T> elements, TensorOf tensor_of = {}) {
  std::unordered_set<const c10::TensorImpl*> seen;
  std::erase_if(elements, [&](const T& element) {
    return !seen.insert(std::invoke(tensor_of, element).unsafeGetTensorImpl()).second;
  });
  return elements;
}

}  // namespace accelerate::tensors
