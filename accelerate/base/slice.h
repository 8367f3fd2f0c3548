#pragma once

// Slices and shards of flat tensors, and the plan by which ranks exchange them.

#include <algorithm>
#include <cassert>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace accelerate {

/// Elements of a flat tensor, in memory order.
struct Slice {
  size_t tensor = 0;  // its index, if there are several
  int64_t begin = 0;
  int64_t length = 0;

  int64_t end() const { return begin + length; }
  bool operator==(const Slice&) const = default;
};

/// A flat tensor in shards, one per rank. All have `shard_length` elements, but the last ones may be shorter or empty.
struct ShardLayout {
  int64_t length = 0;
  int64_t shard_length = 0;
  int64_t element_bytes = 1;

  bool operator==(const ShardLayout&) const = default;
};

/// Which slices ranks compute in which round of an exchange. The same on all ranks, and in all ranks' shards: slices
/// are relative to the start of a shard.
struct SlicePlan {
  std::vector<ShardLayout> tensors;
  std::vector<std::vector<Slice>> rounds;
};

/// A slice of the shard of `rank`, relative to the start of the tensor and cut at the end of the shard.
inline Slice slice_of_rank(const Slice& slice, const ShardLayout& layout, int rank) {
  assert(slice.begin >= 0 && slice.length >= 0 && slice.end() <= layout.shard_length);
  const int64_t shard_begin = layout.shard_length * rank;
  const int64_t begin = std::min(layout.length, shard_begin + slice.begin);
  return {slice.tensor, begin, std::min(layout.length, shard_begin + slice.end()) - begin};
}

/// The slices of `rank` in a round of `plan`, relative to the start of their tensors. None is empty.
inline std::vector<Slice> slices_of_rank(const SlicePlan& plan, size_t round, int rank) {
  std::vector<Slice> slices;
  for (const auto& slice : plan.rounds[round]) {
    assert(slice.tensor < plan.tensors.size());
    const auto own = slice_of_rank(slice, plan.tensors[slice.tensor], rank);
    if (own.length > 0) slices.push_back(own);
  }
  return slices;
}

}  // namespace accelerate
