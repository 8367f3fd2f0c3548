#include "accelerate/comm/all_gather_slices.h"

#include <algorithm>
#include <cassert>
#include <span>

#include <ATen/ATen.h>

#include "accelerate/comm/backends/shared_memory_backend.h"
#include "accelerate/comm/connection.h"

namespace accelerate::comm {

namespace {

std::vector<std::span<std::byte>> bytes_of_all(const std::vector<at::Tensor>& tensors) {
  std::vector<std::span<std::byte>> arrays;
  for (const auto& tensor : tensors) {
    arrays.emplace_back(static_cast<std::byte*>(tensor.mutable_data_ptr()), tensor.nbytes());
  }
  return arrays;
}

/// Calls `copy` with each slice, as bytes, and its part of `flat`.
template <class Copy>
void for_each_slice(const std::vector<Slice>& slices, const std::vector<at::Tensor>& tensors, const at::Tensor& flat,
                    Copy copy) {
  int64_t offset = 0;
  for (const auto& slice : slices) {
    auto bytes = tensors[slice.tensor].narrow(0, slice.begin, slice.length).view(at::kByte);
    copy(bytes, flat.narrow(0, offset, bytes.numel()));
    offset += bytes.numel();
  }
}

/// For any transport: packs the slices of each rank, pads them to the same length and all-gathers them.
void all_gather_packed(const SlicePlan& plan, size_t round, const std::vector<at::Tensor>& tensors,
                       Group::Connection& connection) {
  std::vector<std::vector<Slice>> slices;  // by rank
  int64_t longest = 0;
  for (int rank = 0; rank < connection.size(); ++rank) {
    slices.push_back(slices_of_rank(plan, round, rank));
    int64_t bytes = 0;
    for (const auto& slice : slices.back()) bytes += slice.length * plan.tensors[slice.tensor].element_bytes;
    longest = std::max(longest, bytes);
  }
  if (longest == 0) return;
  const auto options = tensors[0].options().dtype(at::kByte).requires_grad(false);
  auto input = at::empty({longest}, options);
  auto output = at::empty({connection.size() * longest}, options);
  for_each_slice(slices[connection.rank()], tensors, input,
                 [](at::Tensor slice, at::Tensor flat) { flat.copy_(slice); });
  connection.process_group()->all_gather_single(output, input)->wait();
  for (int rank = 0; rank < connection.size(); ++rank) {
    if (rank == connection.rank()) continue;
    for_each_slice(slices[rank], tensors, output.narrow(0, rank * longest, longest),
                   [](at::Tensor slice, at::Tensor flat) { slice.copy_(flat); });
  }
}

/// Whether the plan is one for these tensors.
[[maybe_unused]] bool fits(const SlicePlan& plan, const std::vector<at::Tensor>& tensors) {
  return std::equal(plan.tensors.begin(), plan.tensors.end(), tensors.begin(), tensors.end(),
                    [](const ShardLayout& layout, const at::Tensor& tensor) {
                      return layout.length == tensor.numel() && tensor.dim() == 1 && tensor.is_contiguous() &&
                             layout.element_bytes == static_cast<int64_t>(tensor.itemsize());
                    });
}

}  // namespace

void all_gather_slices(const Group& group, const std::vector<at::Tensor>& tensors, const SlicePlan& plan,
                       const std::function<void(size_t round)>& compute, const std::string& what) {
  assert(fits(plan, tensors));
  at::NoGradGuard no_grad;
  auto& connection = *group.connection();
  auto* memory = SharedMemoryBackend::of(connection);
  const bool on_cpu = std::ranges::all_of(tensors, [](const at::Tensor& tensor) { return tensor.is_cpu(); });
  connection.run_recorded(what, 0, [&] {
    if (memory && on_cpu) return memory->all_gather_slices(bytes_of_all(tensors), plan, compute);
    for (size_t round = 0; round < plan.rounds.size(); ++round) {
      compute(round);
      all_gather_packed(plan, round, tensors, connection);
    }
  });
}

}  // namespace accelerate::comm
