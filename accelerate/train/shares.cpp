#include "accelerate/train/shares.h"

#include <algorithm>

namespace accelerate::train {

namespace {
constexpr int64_t kUnit = 64;
}

tensors::ElementRange share_of(int64_t num_elements, int rank, int size) {
  const int64_t units = (num_elements + kUnit - 1) / kUnit;
  const int64_t each = (units + size - 1) / size * kUnit;
  const int64_t begin = std::min(num_elements, each * rank);
  return {begin, std::min(each, num_elements - begin)};
}

std::vector<std::vector<Portion>> rounds_of(const std::vector<ShareSize>& sizes, int64_t max_bytes) {
  std::vector<std::vector<Portion>> rounds;
  int64_t bytes_left = 0;
  for (size_t i = 0; i < sizes.size(); ++i) {
    for (int64_t begin = 0; begin < sizes[i].length;) {
      int64_t most = bytes_left / sizes[i].element_bytes / kUnit * kUnit;
      if (most == 0) {
        rounds.emplace_back();
        bytes_left = max_bytes;
        most = std::max(kUnit, max_bytes / sizes[i].element_bytes / kUnit * kUnit);
      }
      const int64_t length = std::min(most, sizes[i].length - begin);
      rounds.back().push_back({.tensor = i, .stretch = {begin, length}});
      begin += length;
      bytes_left -= length * sizes[i].element_bytes;
    }
  }
  return rounds;
}

}  // namespace accelerate::train
