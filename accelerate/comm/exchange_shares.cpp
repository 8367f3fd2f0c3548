#include "accelerate/comm/exchange_shares.h"

#include <algorithm>

#include <ATen/ATen.h>

#include "accelerate/comm/connection.h"
#include "accelerate/comm/shared_memory_backend.h"

namespace accelerate::comm {

namespace {

int64_t total_bytes(const std::vector<at::Tensor>& parts) {
  int64_t sum = 0;
  for (const auto& part : parts) sum += static_cast<int64_t>(part.nbytes());
  return sum;
}

/// Calls `copy` with each part, as bytes, and the stretch of `flat` that stands for it.
template <class Copy>
void for_each_part(const std::vector<at::Tensor>& parts, const at::Tensor& flat, Copy copy) {
  int64_t offset = 0;
  for (const auto& part : parts) {
    auto bytes = part.view(at::kByte);
    copy(bytes, flat.narrow(0, offset, bytes.numel()));
    offset += bytes.numel();
  }
}

/// The collective that every transport has: equal, contiguous parts.
void exchange_flat(const Shares& shares, Group::Connection& connection) {
  int64_t longest = 0;
  for (const auto& parts : shares) longest = std::max(longest, total_bytes(parts));
  if (longest == 0) return;
  const auto options = shares[0][0].options().dtype(at::kByte).requires_grad(false);
  auto input = at::empty({longest}, options);
  auto output = at::empty({connection.size() * longest}, options);
  for_each_part(shares[connection.rank()], input, [](at::Tensor part, at::Tensor flat) { flat.copy_(part); });
  connection.process_group()->all_gather_single(output, input)->wait();
  for (int rank = 0; rank < connection.size(); ++rank) {
    if (rank == connection.rank()) continue;
    for_each_part(shares[rank], output.narrow(0, rank * longest, longest),
                  [](at::Tensor part, at::Tensor flat) { part.copy_(flat); });
  }
}

bool all_on_cpu(const Shares& shares) {
  return std::all_of(shares.begin(), shares.end(), [](const auto& parts) {
    return std::all_of(parts.begin(), parts.end(), [](const at::Tensor& part) { return part.is_cpu(); });
  });
}

}  // namespace

void exchange_shares(const Group& group, size_t num_rounds, const std::function<Shares(size_t round)>& make) {
  at::NoGradGuard no_grad;
  auto& connection = *group.connection();
  auto backend = connection.process_group()->getBackend(c10::DeviceType::CPU);
  auto* memory = dynamic_cast<SharedMemoryBackend*>(backend.get());
  connection.explain("the exchange of shares", 0, [&] {
    for (size_t round = 0; round < num_rounds; ++round) {
      const auto shares = make(round);
      if (memory && all_on_cpu(shares)) {
        memory->exchange_shares(shares);
      } else {
        exchange_flat(shares, connection);
      }
    }
  });
}

}  // namespace accelerate::comm
