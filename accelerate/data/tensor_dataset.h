#pragma once

// A data set of rows of tensors that are in memory, and the fastest way to read one.

#include <tuple>
#include <utility>

#include "accelerate/base/error.h"
#include "accelerate/data/stream.h"
#include "accelerate/tensors/nest.h"

namespace accelerate::data {

/// Copies of the rows at `indices`, in one pass without a tensor for each sample.
at::Tensor select_rows(const at::Tensor& tensor, const Indices& indices);

/// Rows of the tensors in a nest, all with the same first dimension: `TensorDataset(pixels, labels)` gives batches that
/// are tuples of two tensors, `TensorDataset(Batch{...})` gives a Batch.
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
