#pragma once

// Sequences that are produced one element at a time, so that nothing as long as a data set is ever held in memory.

#include <cstdint>
#include <functional>
#include <optional>
#include <utility>
#include <vector>

namespace accelerate::data {

/// Gives the next element at each call, and nothing from the end on.
template <class T>
using Stream = std::function<std::optional<T>()>;

/// The samples of one batch, by their places in the data set.
using Indices = std::vector<int64_t>;

using IndexStream = Stream<int64_t>;
using BatchStream = Stream<Indices>;

/// A part of a stream to leave out.
struct Skip {
  int64_t count = 0;
  int64_t after = 0;  // elements that come before that part
};

/// The stream without the elements to skip.
template <class T>
Stream<T> without(const Skip& skip, Stream<T> stream) {
  if (skip.count == 0) return stream;
  return [stream = std::move(stream), skip, num_given = int64_t{0}]() mutable {
    if (num_given++ == skip.after) {
      for (int64_t i = 0; i < skip.count; ++i) {
        if (!stream()) break;
      }
    }
    return stream();
  };
}

}  // namespace accelerate::data
