#include "accelerate/comm/exchange_shares.h"

#include <algorithm>
#include <span>

#include <ATen/ATen.h>

#include "accelerate/comm/connection.h"
#include "accelerate/comm/shared_memory_backend.h"

namespace accelerate::comm {

namespace {

namespace shm = shared_memory;

std::vector<std::span<std::byte>> bytes_of_all(const std::vector<at::Tensor>& tensors) {
  std::vector<std::span<std::byte>> arrays;
  for (const auto& tensor : tensors) {
    arrays.emplace_back(static_cast<std::byte*>(tensor.mutable_data_ptr()), tensor.nbytes());
  }
  return arrays;
}

/// The same shares in bytes instead of elements.
shm::Shares in_bytes(const Shares& shares, const std::vector<at::Tensor>& tensors) {
  shm::Shares counted;
  for (const auto& parts : shares) {
    auto& of_rank = counted.emplace_back();
    for (const auto& [tensor, begin, length] : parts) {
      const size_t element_bytes = tensors[tensor].itemsize();
      of_rank.push_back({tensor, begin * element_bytes, length * element_bytes});
    }
  }
  return counted;
}

int64_t total_bytes(const std::vector<Part>& parts, const std::vector<at::Tensor>& tensors) {
  int64_t sum = 0;
  for (const auto& part : parts) sum += part.length * static_cast<int64_t>(tensors[part.tensor].itemsize());
  return sum;
}

/// Calls `copy` with each part, as bytes, and its slice of `flat`.
template <class Copy>
void for_each_part(const std::vector<Part>& parts, const std::vector<at::Tensor>& tensors, const at::Tensor& flat,
                   Copy copy) {
  int64_t offset = 0;
  for (const auto& part : parts) {
    auto bytes = tensors[part.tensor].narrow(0, part.begin, part.length).view(at::kByte);
    copy(bytes, flat.narrow(0, offset, bytes.numel()));
    offset += bytes.numel();
  }
}

/// For any transport: packs the parts of each rank, pads them to the same length and all-gathers them.
void exchange_flat(const Shares& shares, const std::vector<at::Tensor>& tensors, Group::Connection& connection) {
  int64_t longest = 0;
  for (const auto& parts : shares) longest = std::max(longest, total_bytes(parts, tensors));
  if (longest == 0) return;
  const auto options = tensors[0].options().dtype(at::kByte).requires_grad(false);
  auto input = at::empty({longest}, options);
  auto output = at::empty({connection.size() * longest}, options);
  for_each_part(shares[connection.rank()], tensors, input, [](at::Tensor part, at::Tensor flat) { flat.copy_(part); });
  connection.process_group()->all_gather_single(output, input)->wait();
  for (int rank = 0; rank < connection.size(); ++rank) {
    if (rank == connection.rank()) continue;
    for_each_part(shares[rank], tensors, output.narrow(0, rank * longest, longest),
                  [](at::Tensor part, at::Tensor flat) { part.copy_(flat); });
  }
}

bool all_on_cpu(const std::vector<at::Tensor>& tensors) {
  return std::all_of(tensors.begin(), tensors.end(), [](const at::Tensor& tensor) { return tensor.is_cpu(); });
}

}  // namespace

void exchange_shares(const Group& group, const std::vector<at::Tensor>& tensors, size_t num_rounds,
                     const std::function<Shares(size_t round)>& make, const std::string& what) {
  at::NoGradGuard no_grad;
  auto& connection = *group.connection();
  auto* memory = SharedMemoryBackend::of(connection);
  connection.run_recorded(what, 0, [&] {
    if (memory && all_on_cpu(tensors)) {
      return memory->exchange_shares(bytes_of_all(tensors), num_rounds,
                                     [&](size_t round) { return in_bytes(make(round), tensors); });
    }
    for (size_t round = 0; round < num_rounds; ++round) exchange_flat(make(round), tensors, connection);
  });
}

}  // namespace accelerate::comm
