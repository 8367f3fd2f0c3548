#include "accelerate/data/subset.h"

#include <cmath>
#include <numeric>

#include <ATen/ops/randperm.h>

#include "accelerate/base/log.h"

namespace accelerate::data {

namespace {

/// The size of each split, rounded down. Remaining samples are assigned round-robin from the first split.
Indices counts_of_fractions(int64_t size, const std::vector<SplitLength>& lengths) {
  double sum = 0;
  for (const auto& length : lengths) {
    const double fraction = length.fraction();
    if (!(fraction >= 0 && fraction <= 1)) {
      fail("random_split: the fraction ", fraction, " is not between 0 and 1; give counts as whole numbers");
    }
    sum += fraction;
  }
  if (!(std::abs(sum - 1) <= 1e-9)) fail("random_split: the fractions add up to ", sum, "; they must add up to 1");
  Indices counts;
  for (const auto& length : lengths) {
    counts.push_back(static_cast<int64_t>(std::floor(static_cast<double>(size) * length.fraction())));
  }
  const int64_t left_over = size - std::accumulate(counts.begin(), counts.end(), int64_t{0});
  for (int64_t i = 0; i < left_over; ++i) ++counts[i % counts.size()];
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) get_logger("accelerate.data").warning("random_split: split " + std::to_string(i) + " is empty");
  }
  return counts;
}

Indices counts_of(int64_t size, const std::vector<SplitLength>& lengths) {
  size_t num_counts = 0;
  for (const auto& length : lengths) num_counts += length.is_count() ? 1 : 0;
  if (lengths.empty()) fail("random_split: there are no lengths; give one for each split");
  if (num_counts == 0) return counts_of_fractions(size, lengths);
  if (num_counts < lengths.size()) fail("random_split: give either counts or fractions, not some of each");
  Indices counts;
  int64_t sum = 0;
  for (const auto& length : lengths) {
    if (length.count() < 0) fail("random_split: a split cannot have ", length.count(), " samples");
    counts.push_back(length.count());
    sum += length.count();
  }
  if (sum != size) fail("random_split: the lengths add up to ", sum, ", but the data set has ", size, " samples");
  return counts;
}

}  // namespace

void check_subset(const Indices& indices, std::optional<int64_t> size) {
  for (int64_t index : indices) {
    if (index >= 0 && (!size || index < *size)) continue;
    if (!size) fail("Subset: there is no sample ", index);
    fail("Subset: sample ", index, " is not one of the ", *size, " samples");
  }
}

std::vector<Indices> split_indices(int64_t size, const std::vector<SplitLength>& lengths,
                                   const at::Generator& generator) {
  const auto counts = counts_of(size, lengths);
  auto order =
      at::randperm(size, generator.defined() ? std::optional<at::Generator>(generator) : std::nullopt, at::kLong);
  const int64_t* next = order.const_data_ptr<int64_t>();
  std::vector<Indices> splits;
  for (int64_t count : counts) {
    splits.emplace_back(next, next + count);
    next += count;
  }
  return splits;
}

}  // namespace accelerate::data
