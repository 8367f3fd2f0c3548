// All-reduce of sparse tensors, such as the gradients of large embeddings: each rank has values for different rows.

#include <ATen/ATen.h>

#include "accelerate/base/error.h"
#include "accelerate/comm/backends/shared_memory_backend.h"
#include "accelerate/comm/backends/tensor_arrays.h"

namespace accelerate::comm {

namespace {

/// Appends rows of zeros up to `num_rows`.
at::Tensor padded(const at::Tensor& rows, int64_t num_rows) {
  auto shape = rows.sizes().vec();
  shape[0] = num_rows;
  auto longer = at::zeros(shape, rows.options());
  longer.narrow(0, 0, rows.size(0)).copy_(rows);
  return longer;
}

}  // namespace

/// All-gathers tensors of the same shape into a new first dimension.
at::Tensor SharedMemoryBackend::gathered(at::Tensor tensor, std::chrono::milliseconds timeout) {
  auto shape = tensor.sizes().vec();
  shape.insert(shape.begin(), size_);
  auto all = at::empty(shape, tensor.options());
  c10d::AllgatherOptions options;
  options.timeout = timeout;
  _allgather_base(all, tensor, options);
  return all;
}

/// Adds in rank order, as Gloo does, so that the bits are the same.
void SharedMemoryBackend::add_up_sparse(at::Tensor& tensor, const c10d::AllreduceOptions& options) {
  if (reduction_of(options.reduceOp) != shared_memory::Reduction::Sum)
    fail("sparse tensors can only be summed over ranks");
  auto mine = tensor.coalesce();
  auto counts = gathered(at::scalar_tensor(mine._nnz(), at::kLong), options.timeout);
  auto most = counts.max().item<int64_t>();
  if (most == 0) return;
  auto places = gathered(padded(mine.indices().t(), most), options.timeout);
  auto values = gathered(padded(mine.values(), most), options.timeout);
  std::vector<at::Tensor> all_places, all_values;
  for (int rank = 0; rank < size_; ++rank) {
    auto count = counts[rank].item<int64_t>();
    all_places.push_back(places[rank].narrow(0, 0, count));
    all_values.push_back(values[rank].narrow(0, 0, count));
  }
  // "Unsafe" skips the check of the indices, which come from valid tensors.
  auto everything =
      at::_sparse_coo_tensor_unsafe(at::cat(all_places).t(), at::cat(all_values), tensor.sizes(), tensor.options());
  tensor.copy_(everything.coalesce());
}

}  // namespace accelerate::comm
