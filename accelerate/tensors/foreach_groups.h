#pragma once

// Groups tensors by device and type, as the foreach kernels require.

#include <algorithm>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

namespace accelerate::tensors {

/// Groups tensors by device and type, each group in the given order. No group is empty.
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
