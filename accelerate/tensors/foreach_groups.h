#pragma once

// Lists of tensors as the foreach kernels want them: of one device and one type.

#include <algorithm>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace accelerate::tensors {

/// The tensors in lists of equal device and type, each in the given order. None is empty.
inline std::vector<std::vector<at::Tensor>> foreach_groups(std::vector<at::Tensor> tensors) {
  std::vector<std::vector<at::Tensor>> groups;
  for (auto& tensor : tensors) {
    auto group = std::find_if(groups.begin(), groups.end(), [&](const std::vector<at::Tensor>& candidate) {
      return candidate.front().device() == tensor.device() && candidate.front().scalar_type() == tensor.scalar_type();
    });
    if (group == groups.end()) group = groups.emplace(groups.end());
    group->push_back(std::move(tensor));
  }
  return groups;
}

}  // namespace accelerate::tensors
