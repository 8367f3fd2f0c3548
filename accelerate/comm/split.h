#pragma once

// Divides a list among ranks, into contiguous ranges whose lengths differ by at most one.

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <ATen/core/Tensor.h>

#include "accelerate/base/error.h"
#include "accelerate/tensors/batch.h"

namespace accelerate::comm {

/// The items of one rank.
struct SplitRange {
  int64_t begin = 0;
  int64_t end = 0;
  int64_t padding = 0;  // how often the last item of the whole list is repeated
};

/// The range of `rank` in `num_items`. If the division has a remainder, the first ranks get one item more. With
/// `apply_padding` all ranks get the same number as the first.
SplitRange split_range(int64_t num_items, int rank, int world_size, bool apply_padding = false);

/// Splits a list.
template <class T>
std::vector<T> split_between(const std::vector<T>& items, int rank, int world_size, bool apply_padding) {
  auto range = split_range(static_cast<int64_t>(items.size()), rank, world_size, apply_padding);
  std::vector<T> part(items.begin() + range.begin, items.begin() + range.end);
  if (!items.empty()) part.insert(part.end(), range.padding, items.back());
  return part;
}

/// Splits rows.
at::Tensor split_between(const at::Tensor& rows, int rank, int world_size, bool apply_padding);

/// Splits every tensor. Throws Error if their numbers of rows differ.
tensors::Batch split_between(const tensors::Batch& batch, int rank, int world_size, bool apply_padding);

/// Splits every value of a map. Throws Error if their lengths differ.
template <class Key, class Value>
std::map<Key, Value> split_between(const std::map<Key, Value>& items, int rank, int world_size, bool apply_padding) {
  auto length = [](const Value& value) -> int64_t {
    if constexpr (std::is_same_v<Value, at::Tensor>)
      return value.size(0);
    else
      return static_cast<int64_t>(value.size());
  };
  std::map<Key, Value> part;
  for (const auto& [key, value] : items) {
    if (length(value) != length(items.begin()->second)) {
      fail("split_between_processes: the values of a map need equal lengths; '", key, "' has ", length(value), " and '",
           items.begin()->first, "' has ", length(items.begin()->second));
    }
    part.emplace(key, split_between(value, rank, world_size, apply_padding));
  }
  return part;
}

}  // namespace accelerate::comm
