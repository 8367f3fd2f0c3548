#include "accelerate/sharding/layout.h"

#include <algorithm>
#include <cassert>

namespace accelerate::sharding {

namespace {
constexpr int64_t kUnit = 64;
}

ShardLayout layout_of(int64_t num_elements, int64_t element_bytes, int size) {
  assert(num_elements >= 0 && element_bytes > 0 && size > 0);
  const int64_t units = (num_elements + kUnit - 1) / kUnit;
  const int64_t units_per_rank = (units + size - 1) / size;
  const ShardLayout layout{.length = num_elements,
                           .shard_length = std::min(units_per_rank * kUnit, num_elements),
                           .element_bytes = element_bytes};
  assert(layout.shard_length * size >= num_elements);
  return layout;
}

Slice shard_of(int64_t num_elements, int rank, int size) {
  assert(rank >= 0 && rank < size);
  const auto layout = layout_of(num_elements, /*element_bytes=*/1, size);
  return slice_of_rank({.length = layout.shard_length}, layout, rank);
}

SlicePlan plan_rounds(std::vector<ShardLayout> tensors, int64_t max_bytes) {
  SlicePlan plan{.tensors = std::move(tensors), .rounds = {}};
  int64_t bytes_left = 0;
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    const auto& [length, shard_length, element_bytes] = plan.tensors[i];
    for (int64_t begin = 0; begin < shard_length;) {
      int64_t most = bytes_left / element_bytes / kUnit * kUnit;
      if (most == 0) {
        plan.rounds.emplace_back();
        bytes_left = max_bytes;
        most = std::max(kUnit, max_bytes / element_bytes / kUnit * kUnit);
      }
      const Slice slice{.tensor = i, .begin = begin, .length = std::min(most, shard_length - begin)};
      assert(slice.begin % kUnit == 0 && slice.length > 0);
      plan.rounds.back().push_back(slice);
      begin = slice.end();
      bytes_left -= slice.length * element_bytes;
    }
  }
  return plan;
}

SlicePlan plan_one_round(std::vector<ShardLayout> tensors) {
  SlicePlan plan{.tensors = std::move(tensors), .rounds = {{}}};
  for (size_t i = 0; i < plan.tensors.size(); ++i) {
    plan.rounds.front().push_back({.tensor = i, .begin = 0, .length = plan.tensors[i].shard_length});
  }
  return plan;
}

}  // namespace accelerate::sharding
