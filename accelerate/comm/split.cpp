#include "accelerate/comm/split.h"

#include <ATen/ATen.h>

namespace accelerate::comm {

SplitRange split_range(int64_t num_items, int rank, int world_size, bool apply_padding) {
  int64_t each = num_items / world_size;
  int64_t extra = num_items % world_size;
  SplitRange range;
  range.begin = rank * each + std::min<int64_t>(rank, extra);
  range.end = range.begin + each + (rank < extra ? 1 : 0);
  if (apply_padding && num_items > 0) range.padding = each + (extra > 0 ? 1 : 0) - (range.end - range.begin);
  return range;
}

at::Tensor split_between(const at::Tensor& rows, int rank, int world_size, bool apply_padding) {
  auto range = split_range(rows.size(0), rank, world_size, apply_padding);
  auto part = rows.slice(0, range.begin, range.end);
  if (range.padding == 0) return part;
  auto last = rows.slice(0, rows.size(0) - 1);
  std::vector<at::Tensor> parts{part};
  parts.insert(parts.end(), range.padding, last);
  return at::cat(parts);
}

tensors::Batch split_between(const tensors::Batch& batch, int rank, int world_size, bool apply_padding) {
  tensors::Batch part;
  for (const auto& [name, tensor] : batch) {
    if (tensor.size(0) != batch.begin()->second.size(0)) {
      fail("split_between_processes: the tensors of a batch must have the same length; '", name, "' has ",
           tensor.size(0), " and '", batch.begin()->first, "' has ", batch.begin()->second.size(0));
    }
    part[name] = split_between(tensor, rank, world_size, apply_padding);
  }
  return part;
}

}  // namespace accelerate::comm
