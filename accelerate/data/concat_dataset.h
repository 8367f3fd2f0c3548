#pragma once

// Concatenates data sets.

#include <algorithm>
#include <concepts>
#include <functional>
#include <initializer_list>
#include <iterator>
#include <memory>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "accelerate/data/batch_rows.h"
#include "accelerate/data/subset.h"
#include "accelerate/tensors/nest.h"

namespace accelerate::data {

namespace detail {

/// Joins the results of data sets for consecutive indices: vectors of samples, or finished batches along dim 0.
template <class Sample>
std::vector<Sample> joined(std::vector<std::vector<Sample>> parts) {
  std::vector<Sample> samples = std::move(parts.front());
  for (size_t i = 1; i < parts.size(); ++i) {
    samples.insert(samples.end(), std::make_move_iterator(parts[i].begin()), std::make_move_iterator(parts[i].end()));
  }
  return samples;
}
template <class BatchT>
BatchT joined(const std::vector<BatchT>& parts) {
  static_assert(
      has_rows<BatchT>,
      "ConcatDataset cannot join finished batches that hold more than tensors: let the data sets give samples, "
      "through `get(index)`");
  return tensors::concatenate(parts);
}

}  // namespace detail

/// The samples of all data sets, in the order of the data sets: `ConcatDataset(first, second)`, or
/// `ConcatDataset(list)` of a std::vector of them. The data sets may have different types, but must have the same type
/// of samples. `Samples` is the result of reading several indices.
template <class Samples>
class ConcatDataset {
 public:
  template <GivesMapStyle... Given>
    requires(sizeof...(Given) > 1 && (std::same_as<collate_input_t<given_dataset_t<Given>>, Samples> && ...))
  explicit ConcatDataset(Given... datasets) {
    (add(share_dataset(std::move(datasets))), ...);
  }

  template <GivesMapStyle Given>
  explicit ConcatDataset(std::vector<Given> datasets) {
    if (datasets.empty()) fail("ConcatDataset: there are no data sets");
    for (auto& dataset : datasets) add(share_dataset(std::move(dataset)));
  }
  template <GivesMapStyle Given>
  ConcatDataset(std::initializer_list<Given> datasets) : ConcatDataset(std::vector<Given>(datasets)) {}

  int64_t size() const { return ends_.back(); }

  Samples get_batch(const Indices& indices) const {
    if (indices.empty()) return parts_.front().read({});
    std::vector<Samples> joined_parts;
    for (size_t i = 0; i < indices.size();) {
      const size_t part = part_of(indices[i]);
      const int64_t begin = part == 0 ? 0 : ends_[part - 1];
      Indices own;
      for (; i < indices.size() && indices[i] >= begin && indices[i] < ends_[part]; ++i) {
        own.push_back(indices[i] - begin);
      }
      joined_parts.push_back(parts_[part].read(own));
    }
    return detail::joined(std::move(joined_parts));
  }

  void set_epoch(int64_t epoch) {
    for (auto& part : parts_) {
      if (part.set_epoch) part.set_epoch(epoch);
    }
  }

  /// The end index of each data set.
  const Indices& cumulative_sizes() const { return ends_; }

 private:
  struct Part {
    std::function<Samples(const Indices&)> read;
    std::function<void(int64_t)> set_epoch;
  };

  template <class D>
  void add(std::shared_ptr<D> dataset) {
    ends_.push_back((ends_.empty() ? 0 : ends_.back()) + sized(*dataset));
    Part part{.read = [dataset](const Indices& indices) { return read_samples(*dataset, indices); }, .set_epoch = {}};
    if constexpr (requires { dataset->set_epoch(int64_t{0}); }) {
      part.set_epoch = [dataset](int64_t epoch) { dataset->set_epoch(epoch); };
    }
    parts_.push_back(std::move(part));
  }

  size_t part_of(int64_t index) const {
    if (index < 0 || index >= size())
      fail("sample ", index, " is not one of the ", size(), " samples of the data sets");
    return std::upper_bound(ends_.begin(), ends_.end(), index) - ends_.begin();
  }

  std::vector<Part> parts_;
  Indices ends_;
};

template <class First, class... Given>
  requires(sizeof...(Given) > 0)
ConcatDataset(First, Given...) -> ConcatDataset<collate_input_t<given_dataset_t<First>>>;
template <class Given>
ConcatDataset(std::vector<Given>) -> ConcatDataset<collate_input_t<given_dataset_t<Given>>>;
template <class Given>
ConcatDataset(std::initializer_list<Given>) -> ConcatDataset<collate_input_t<given_dataset_t<Given>>>;

}  // namespace accelerate::data

namespace accelerate {
using data::ConcatDataset;
}
