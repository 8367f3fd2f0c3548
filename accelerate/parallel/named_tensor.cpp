#include "accelerate/parallel/named_tensor.h"

#include <unordered_set>

namespace accelerate::parallel {

std::vector<NamedTensor> distinct(const std::vector<NamedTensor>& tensors) {
  std::vector<NamedTensor> result;
  std::unordered_set<const at::TensorImpl*> seen;
  for (const auto& named : tensors) {
    if (!named.tensor.defined()) continue;
    if (seen.insert(named.tensor.unsafeGetTensorImpl()).second) result.push_back(named);
  }
  return result;
}

}  // namespace accelerate::parallel
