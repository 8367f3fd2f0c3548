#pragma once

// Subsets of a data set, chosen by index or split at random with the same draws as Python.

#include <array>
#include <concepts>
#include <iterator>
#include <memory>
#include <utility>
#include <vector>

#include <ATen/core/Generator.h>

#include "accelerate/data/shared_dataset.h"

namespace accelerate::data {

/// Throws Error if an index is negative or not below `size`, the size of the data set or subset if known.
void check_subset(const Indices& indices, std::optional<int64_t> size);

/// The samples of a data set at some indices. Shares the data set.
template <class D>
class Subset {
  static_assert(MapStyleDataset<D>, "Subset takes a data set that is read by index, with `size()` and `get(index)`");

 public:
  /// `dataset` is one by value, a std::shared_ptr to one, or a tensor. Throws Error for an index out of range.
  template <class Given>
    requires std::same_as<given_dataset_t<Given>, D>
  Subset(Given dataset, Indices indices) : dataset_(share_dataset(std::move(dataset))), indices_(std::move(indices)) {
    check_subset(indices_, dataset_size(*dataset_));
  }

  int64_t size() const { return static_cast<int64_t>(indices_.size()); }

  auto get_batch(const Indices& places) const {
    check_subset(places, size());
    Indices indices;
    indices.reserve(places.size());
    for (int64_t place : places) indices.push_back(indices_[place]);
    return read_samples(*dataset_, indices);
  }

  auto get(int64_t place) const
    requires detail::GivesSamples<D> || detail::HasSubscript<D>
  {
    check_subset({place}, size());
    return read_sample(*dataset_, indices_[place]);
  }

  void set_epoch(int64_t epoch)
    requires requires(D& dataset) { dataset.set_epoch(epoch); }
  {
    dataset_->set_epoch(epoch);
  }

  /// The data set that the samples come from.
  D& dataset() const { return *dataset_; }

  /// The indices of the samples in dataset().
  const Indices& indices() const { return indices_; }

 private:
  std::shared_ptr<D> dataset_;
  Indices indices_;
};

template <class Given>
Subset(Given, Indices) -> Subset<given_dataset_t<Given>>;

/// Returns the number of samples. Throws Error if the data set does not know it.
template <MapStyleDataset D>
int64_t sized(const D& dataset) {
  auto size = dataset_size(dataset);
  if (!size) fail("this data set does not know its size(), so that it cannot be divided");
  return *size;
}

/// The length of a split: an integer is a number of samples, a floating-point number a fraction of them.
class SplitLength {
 public:
  template <std::integral Number>
  SplitLength(Number count) : count_(static_cast<int64_t>(count)) {}
  template <std::floating_point Number>
  SplitLength(Number fraction) : fraction_(static_cast<double>(fraction)), is_count_(false) {}

  bool is_count() const { return is_count_; }
  int64_t count() const { return count_; }
  double fraction() const { return fraction_; }

 private:
  int64_t count_ = 0;
  double fraction_ = 0;
  bool is_count_ = true;
};

/// Returns the indices of each split. Throws Error unless the lengths are counts with the sum `size` or fractions with
/// the sum one.
std::vector<Indices> split_indices(int64_t size, const std::vector<SplitLength>& lengths,
                                   const at::Generator& generator);

/// Splits a data set at random, one subset per length:
///
///   auto [train, validation] = random_split(dataset, {0.8, 0.2});
///
/// Draws from `generator`, or from libtorch's global one if that is undefined. All ranks need the same generator state
/// to get the same split: call set_seed first, or pass a generator with the same seed on all ranks.
template <class Given, size_t count>
std::array<Subset<given_dataset_t<Given>>, count> random_split(Given dataset, const SplitLength (&lengths)[count],
                                                               const at::Generator& generator = {}) {
  auto shared = share_dataset(std::move(dataset));
  auto parts = split_indices(sized(*shared), {std::begin(lengths), std::end(lengths)}, generator);
  return [&]<size_t... I>(std::index_sequence<I...>) {
    return std::array{Subset(shared, std::move(parts[I]))...};
  }(std::make_index_sequence<count>());
}

/// The same for a number of lengths known only at run time.
template <class Given, class Number>
std::vector<Subset<given_dataset_t<Given>>> random_split(Given dataset, const std::vector<Number>& lengths,
                                                         const at::Generator& generator = {}) {
  auto shared = share_dataset(std::move(dataset));
  std::vector<Subset<given_dataset_t<Given>>> subsets;
  for (auto& part : split_indices(sized(*shared), {lengths.begin(), lengths.end()}, generator)) {
    subsets.emplace_back(shared, std::move(part));
  }
  return subsets;
}

}  // namespace accelerate::data

namespace accelerate {
using data::random_split;
using data::Subset;
}  // namespace accelerate
