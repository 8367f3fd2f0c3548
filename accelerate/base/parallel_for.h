#pragma once

// Parallel loops on std::thread, independent of OpenMP's thread pool. Used to tokenize texts, and to read, copy and
// checksum many bytes: one core alone does not saturate the memory bandwidth.

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace accelerate {

/// Calls `body` once on each of `threads` threads, the caller included; on fewer if the system refuses more. Returns
/// when all have returned. Throws the first exception.
void run_on_threads(int threads, const std::function<void()>& body);

/// Calls work(0) to work(count - 1) on up to `threads` threads, the caller included, with dynamic scheduling in chunks
/// of `chunk` indices. Returns when all are done. After an exception no more chunks are started, and the first
/// exception is thrown.
template <class Work>
void parallel_for(size_t count, int threads, const Work& work, size_t chunk = 1) {
  std::atomic<size_t> next = 0;
  auto take_chunks = [&] {
    try {
      for (size_t begin; (begin = next.fetch_add(chunk)) < count;) {
        for (size_t index = begin; index < std::min(begin + chunk, count); ++index) work(index);
      }
    } catch (...) {
      next = count;
      throw;
    }
  };
  const size_t num_chunks = (count + chunk - 1) / chunk;
  run_on_threads(static_cast<int>(std::min<size_t>(num_chunks, std::max(threads, 1))), take_chunks);
}

/// The number of threads that pays off for reading or copying that many bytes. At most the number of cores of this
/// process. Ignores OMP_NUM_THREADS, because the OpenMP threads are idle meanwhile.
int threads_to_move(uint64_t bytes);

/// Calls work(item, begin, end) for ranges that cover all bytes of all items, on threads_to_move(all bytes) threads.
void parallel_for_bytes(const std::vector<uint64_t>& item_bytes,
                        const std::function<void(size_t item, uint64_t begin, uint64_t end)>& work);

}  // namespace accelerate
