#pragma once

// Divides the tensors of a model into shards in the same way as Python's packages.

#include <cstdint>
#include <utility>
#include <vector>

namespace accelerate::formats {

/// Divides tensors in order into shards of at most `max_bytes`. A larger tensor gets its own shard. Returns at least
/// one shard. `bytes_of(tensor)` is the size of a tensor.
template <class Tensor, class BytesOf>
std::vector<std::vector<Tensor>> divide_into_shards(const std::vector<Tensor>& tensors, uint64_t max_bytes,
                                                    BytesOf&& bytes_of) {
  std::vector<std::vector<Tensor>> shards;
  std::vector<Tensor> filling;
  uint64_t filled = 0;
  for (const auto& tensor : tensors) {
    const uint64_t bytes = bytes_of(tensor);
    if (bytes > max_bytes) {
      shards.push_back({tensor});
      continue;
    }
    if (filled + bytes > max_bytes) {
      shards.push_back(std::exchange(filling, {}));
      filled = 0;
    }
    filling.push_back(tensor);
    filled += bytes;
  }
  if (!filling.empty() || shards.empty()) shards.push_back(std::move(filling));
  return shards;
}

}  // namespace accelerate::formats
