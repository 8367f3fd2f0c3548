#pragma once

// Large blocks of memory that are kept when they are freed and given out again.
//
// The system's malloc hands large blocks back at once, so a training step pays for the same pages each time it runs: a
// fault, a page of zeros, and the way back. The pool cuts blocks from segments that lie on huge pages, joins free
// neighbours, and gives a segment back to the system when it was idle for a while: a loop keeps what it uses again and
// again, and what was needed once goes.

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <map>
#include <mutex>
#include <set>
#include <utility>

namespace accelerate {

struct MemoryPoolOptions {
  size_t segment = size_t{32} << 20;                          // what is asked from the system at least
  std::chrono::milliseconds keep = std::chrono::seconds(10);  // how long a segment may be idle
};

/// Safe to use from several threads, and in a child after fork().
class MemoryPool {
 public:
  static constexpr size_t kGranule = size_t{16} << 10;  // blocks begin and end at multiples of this

  explicit MemoryPool(const MemoryPoolOptions& options = {}) : options_(options) {}
  MemoryPool(const MemoryPool&) = delete;
  MemoryPool& operator=(const MemoryPool&) = delete;
  ~MemoryPool();

  /// At least `bytes` of memory with any content, or null when the system has no more.
  void* allocate(size_t bytes);

  /// Takes a block back, and sees to segments that were idle for long. False, and nothing done, when the block is not
  /// one of the pool's.
  bool free(void* block);

  /// Gives segments that hold no block back to the system.
  void release_idle();

  size_t in_use() const;
  size_t idle() const;  // asked from the system and not in use

  /// Around fork(): a child must not find the pool in the hands of a thread that it does not have.
  void lock() { mutex_.lock(); }
  void unlock() { mutex_.unlock(); }

 private:
  using Clock = std::chrono::steady_clock;

  struct Block {
    size_t bytes = 0;
    bool used = false;
    bool first = false;  // of its segment: not joined to what lies before
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
  std::set<std::pair<size_t, char*>> idle_;  // those not used, smallest first
  size_t in_use_ = 0;
  size_t idle_bytes_ = 0;
  Clock::time_point next_release_ = {};
};

}  // namespace accelerate
