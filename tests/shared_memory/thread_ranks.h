#pragma once

// Ranks that are threads of the test and use one mapping of the memory, so that the thread sanitizer sees all they do.

#include <sys/stat.h>

#include <exception>
#include <functional>
#include <memory>
#include <thread>
#include <vector>

#include "accelerate/shared_memory/channel.h"
#include "accelerate/shared_memory/heap.h"
#include "tests/support/hang_limit.h"

namespace accelerate::tests {

/// The memory of a group, all of it in this process.
class LocalMemory {
 public:
  static constexpr size_t kHeapBytes = size_t{64} << 20;

  explicit LocalMemory(int size, size_t heap_bytes = kHeapBytes) : control_(shared_memory::ControlView::bytes(size)) {
    control_.commit(0, control_.capacity());
    for (int rank = 0; rank < size; ++rank) {
      auto& segment = segments_.emplace_back(std::make_shared<shared_memory::Segment>(heap_bytes));
      segment->commit(0, shared_memory::kStagesBytes);
      heaps_.push_back(std::make_shared<shared_memory::Heap>(segment, shared_memory::kStagesBytes));
    }
  }

  int size() const { return static_cast<int>(heaps_.size()); }
  const std::shared_ptr<shared_memory::Heap>& heap(int rank) const { return heaps_[rank]; }

  /// Memory that the system has given to the heap of `rank`.
  size_t committed_bytes(int rank) const {
    struct stat status{};
    fstat(segments_[rank]->descriptor().get(), &status);
    return static_cast<size_t>(status.st_blocks) * 512;
  }

  shared_memory::GroupMemory view() const {
    shared_memory::GroupMemory view{.control = {control_.data(), size()}, .heaps = {}, .core_for_each = size() <= 2};
    for (const auto& heap : heaps_) view.heaps.push_back(heap->at(0));
    return view;
  }

 private:
  shared_memory::Segment control_;
  std::vector<std::shared_ptr<shared_memory::Segment>> segments_;
  std::vector<std::shared_ptr<shared_memory::Heap>> heaps_;
};

/// Calls `body(rank)` in a thread for each rank and throws the first exception of any.
inline void run_threads(int size, const std::function<void(int rank)>& body) {
  std::vector<std::exception_ptr> failures(size);
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank) {
    threads.emplace_back([&, rank] {
      try {
        body(rank);
      } catch (...) {
        failures[rank] = std::current_exception();
      }
    });
  }
  for (auto& thread : threads) thread.join();
  for (auto& failure : failures) {
    if (failure) std::rethrow_exception(failure);
  }
}

/// The same with a channel for each rank. They are left when all have returned.
inline void run_channels(const LocalMemory& memory, const std::function<void(shared_memory::Channel&)>& body,
                         std::chrono::milliseconds timeout = hang_limit()) {
  std::vector<std::unique_ptr<shared_memory::Channel>> channels;
  for (int rank = 0; rank < memory.size(); ++rank) {
    channels.push_back(std::make_unique<shared_memory::Channel>(memory.view(), rank, timeout));
  }
  run_threads(memory.size(), [&](int rank) { body(*channels[rank]); });
}

}  // namespace accelerate::tests
