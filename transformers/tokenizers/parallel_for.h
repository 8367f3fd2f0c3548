#pragma once

// The same work for many items, on several threads.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace transformers::tokenizers {

/// Calls `body(index)` for each index below `count`, on up to `threads` threads of which the calling one is the first.
/// Throws what a call has thrown, after all threads have stopped.
template <class Body>
void parallel_for(size_t count, int threads, const Body& body) {
  constexpr size_t kTaken = 16;  // indices at a time: few enough to share out evenly, enough not to wait for each other
  std::atomic<size_t> next = 0;
  std::exception_ptr failure;
  std::mutex failing;
  auto work = [&] {
    try {
      for (size_t begin; (begin = next.fetch_add(kTaken)) < count;) {
        for (size_t index = begin; index < std::min(begin + kTaken, count); ++index) body(index);
      }
    } catch (...) {
      std::lock_guard lock(failing);
      failure = std::current_exception();
      next = count;
    }
  };
  size_t helpers = std::min<size_t>(threads, (count + kTaken - 1) / kTaken);
  std::vector<std::jthread> started;
  for (size_t helper = 1; helper < helpers; ++helper) started.emplace_back(work);
  work();
  started.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace transformers::tokenizers
