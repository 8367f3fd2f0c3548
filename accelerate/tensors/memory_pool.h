#pragma once

// A caching allocator for large blocks of memory.
//
// The system's malloc returns large blocks at once, so each training step pays again for the same pages: page faults,
// zeroing, unmapping. The pool splits segments on huge pages into blocks, coalesces free neighbours, and returns a
// segment to the system after it was idle for a while. So memory that a loop reuses stays, and memory that was needed
// once is released.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace accelerate::tensors {

struct MemoryPoolOptions {
  size_t segment = size_t{32} << 20;                          // minimum size of a request to the system
  std::chrono::milliseconds keep = std::chrono::seconds(10);  // how long a segment may stay idle
};

/// Thread-safe. Also usable in a child after fork().
class MemoryPool {
 public:
  static constexpr size_t kGranule = size_t{16} << 10;  // blocks begin and end at multiples of this

  explicit MemoryPool(const MemoryPoolOptions& options = {}) : options_(options) {}
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;
  ~MemoryPool();

  /// At least `bytes` of uninitialized memory, or null if the system is out of memory.
  void* allocate(size_t bytes);

  /// Frees a block, and releases segments that were idle for too long. Returns false, without effect, if the block is
  /// not from this pool.
  bool free(void* block);

  /// Returns unused segments to the system.
  void release_idle();

  size_t in_use() const;
  size_t idle() const;  // obtained from the system, but not in use

  /// For pthread_atfork: a child must not inherit a mutex that is locked by a thread it does not have.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  using Clock = std::chrono::steady_clock;

  struct Block {
    size_t bytes = 0;
    bool used = false;
    bool first = false;  // of its segment: never merged with the block before it
    Clock::time_point idle_since = {};
  };
  using Blocks = std::map<char*, Block>;

  Blocks::iterator take(size_t bytes);
  Blocks::iterator add_segment(size_t bytes);
  void cut(Blocks::iterator block, size_t bytes);
  Blocks::iterator join_neighbours(Blocks::iterator block);
  bool is_segment(Blocks::iterator block) const;
  void remove_segment(Blocks::iterator block);
  void release_idle_before(Clock::time_point time);

  MemoryPoolOptions options_;
  mutable std::mutex mutex_;
  Blocks blocks_;                            // all, by address
  std::set<std::pair<size_t, char*>> idle_;  // free blocks, smallest first
  size_t in_use_ = 0;
  size_t idle_bytes_ = 0;
  Clock::time_point next_release_ = {};
};

}  // namespace accelerate::tensors
