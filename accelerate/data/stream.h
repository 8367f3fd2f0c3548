#pragma once

// Lazy sequences, produced one element at a time, so that memory does not grow with the data set.

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

namespace accelerate::data {

/// Returns the next element at each call, and nothing at the end.
template <class T>
using Stream = std::function<std::optional<T>()>;

/// The indices of the samples of one batch.
using Indices = std::vector<int64_t>;

using IndexStream = Stream<int64_t>;
using BatchStream = Stream<Indices>;

/// Elements of a stream to skip.
struct Skip {
  int64_t count = 0;
  int64_t after = 0;  // elements before them
};

}  // namespace accelerate::data
