#include "accelerate/data/tensor_dataset.h"

#include <ATen/ops/from_blob.h>
#include <ATen/ops/index_select.h>

namespace accelerate::data {

namespace {

bool are_consecutive(const Indices& indices) {
  for (size_t i = 1; i < indices.size(); ++i) {
    if (indices[i] != indices[i - 1] + 1) return false;
  }
  return !indices.empty();
}

}  // namespace

at::Tensor select_rows(const at::Tensor& tensor, const Indices& indices) {
  const auto count = static_cast<int64_t>(indices.size());
  // A copy all the same: a batch may be changed in place, the data set may not.
  if (are_consecutive(indices)) return tensor.narrow(0, indices.front(), count).clone();
  return tensor.index_select(0, at::from_blob(const_cast<int64_t*>(indices.data()), {count}, at::kLong));
}

}  // namespace accelerate::data
