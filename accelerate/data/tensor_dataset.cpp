#include "accelerate/data/tensor_dataset.h"

#include <cstring>

#include <ATen/ops/empty.h>
#include <ATen/ops/from_blob.h>
#include <ATen/ops/index_select.h>

#include "accelerate/base/error.h"

namespace accelerate::data {

namespace {

bool are_consecutive(const Indices& indices) {
  for (size_t i = 1; i < indices.size(); ++i) {
    if (indices[i] != indices[i - 1] + 1) return false;
  }
  return !indices.empty();
}

void check_rows(const at::Tensor& tensor, const Indices& indices) {
  for (int64_t index : indices) {
    if (index >= 0 && index < tensor.size(0)) continue;
    fail("row ", index, " is not one of the ", tensor.size(0),
         " rows of the data set; was the sampler created for another ", "one?");
  }
}

/// Whether rows can be copied with memcpy.
bool has_plain_rows(const at::Tensor& tensor) {
  return tensor.layout() == at::kStrided && tensor.is_cpu() && tensor.is_contiguous() && !tensor.requires_grad() &&
         !tensor.is_quantized() && !tensor.is_conj() && !tensor.is_neg();
}

/// Equivalent to index_select, which sets up a copy operation for each row.
at::Tensor copied_rows(const at::Tensor& tensor, const Indices& indices) {
  auto sizes = tensor.sizes().vec();
  const int64_t num_rows = sizes[0];
  sizes[0] = static_cast<int64_t>(indices.size());
  auto rows = at::empty(sizes, tensor.options());
  const size_t row_bytes = num_rows == 0 ? 0 : tensor.nbytes() / num_rows;
  const auto* from = static_cast<const std::byte*>(tensor.const_data_ptr());
  auto* to = static_cast<std::byte*>(rows.mutable_data_ptr());
  for (int64_t index : indices) {
    std::memcpy(to, from + index * row_bytes, row_bytes);
    to += row_bytes;
  }
  return rows;
}

}  // namespace

at::Tensor select_rows(const at::Tensor& tensor, const Indices& indices) {
  const auto count = static_cast<int64_t>(indices.size());
  check_rows(tensor, indices);
  // Cloned, not a view: the user may modify a batch in place, but not the data set.
  if (are_consecutive(indices)) return tensor.narrow(0, indices.front(), count).clone();
  if (has_plain_rows(tensor)) return copied_rows(tensor, indices);
  return tensor.index_select(0, at::from_blob(const_cast<int64_t*>(indices.data()), {count}, at::kLong));
}

}  // namespace accelerate::data
