#pragma once

// A data set of the rows of tensors in memory, read a batch at a time.

#include <cstddef>
#include <tuple>
#include <type_traits>
#include <utility>

#include "accelerate/base/error.h"
#include "accelerate/data/stream.h"
#include "accelerate/tensors/nest.h"

// Structured binding of a tensor: one element, the tensor itself.
template <>
struct std::tuple_size<at::Tensor> : std::integral_constant<size_t, 1> {};
template <>
struct std::tuple_element<0, at::Tensor> {
  using type = at::Tensor;
};
namespace at {

/// The only element of a tensor in a structured binding: the tensor itself.
template <size_t index>
  requires(index == 0)
Tensor& get(Tensor& tensor) {
  return tensor;
}

/// The same for a constant tensor.
template <size_t index>
  requires(index == 0)
const Tensor& get(const Tensor& tensor) {
  return tensor;
}

/// The same for a temporary, which is moved.
template <size_t index>
  requires(index == 0)
Tensor&& get(Tensor&& tensor) {
  return std::move(tensor);
}

}  // namespace at

namespace accelerate::data {

/// Returns copies of the rows at `indices`, without a tensor per sample. Throws Error for an index out of range.
at::Tensor select_rows(const at::Tensor& tensor, const Indices& indices);

/// Rows of the tensors in a nest, all with the same size of dim 0. Batches of `TensorDataset(pixels, labels)` are
/// tuples of two tensors, batches of `TensorDataset(Batch{...})` are a Batch. Batches of `TensorDataset(pixels)` are
/// tensors, and can be unpacked like Python's tuples of one: `for (auto& [x] : loader)`.
template <class Nest>
class TensorDataset {
 public:
  explicit TensorDataset(Nest rows) : rows_(std::move(rows)), size_(tensors::find_batch_size(rows_).value_or(0)) {
    tensors::for_each_tensor(std::as_const(rows_), [&](const at::Tensor& tensor) {
      if (tensor.dim() > 0 && tensor.size(0) == size_) return;
      fail("TensorDataset: a tensor of shape ", tensor.sizes(), " stands beside one with ", size_, " rows");
    });
  }

  template <class... Rest>
  TensorDataset(at::Tensor first, at::Tensor second, Rest... rest)
      : TensorDataset(Nest(std::move(first), std::move(second), std::move(rest)...)) {}

  int64_t size() const { return size_; }

  /// One row of each tensor, as a view.
  Nest get(int64_t index) const {
    if (index < 0 || index >= size_) fail("row ", index, " is not one of the ", size_, " rows of the data set");
    return tensors::map_tensors(rows_, [&](const at::Tensor& tensor) { return tensor.select(0, index); });
  }

  Nest get_batch(const Indices& indices) const {
    return tensors::map_tensors(rows_, [&](const at::Tensor& tensor) { return select_rows(tensor, indices); });
  }

 private:
  Nest rows_;
  int64_t size_;
};

template <class Nest>
TensorDataset(Nest) -> TensorDataset<Nest>;
template <class... Rest>
TensorDataset(at::Tensor, at::Tensor, Rest...) -> TensorDataset<std::tuple<at::Tensor, at::Tensor, Rest...>>;

}  // namespace accelerate::data

namespace accelerate {
using data::TensorDataset;
}
