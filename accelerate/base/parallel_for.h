#pragma once

// Parallel loops on plain threads. Meant for reading, copying and checksumming many bytes between computations, because
// one core alone does not saturate the memory.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace accelerate {

/// Calls work(0) to work(count - 1) on up to `threads` threads, the caller included, with dynamic scheduling. Returns
/// when all are done. After an exception no more calls are started, and the first exception is thrown.
void parallel_for(size_t count, int threads, const std::function<void(size_t index)>& work);

/// The number of threads worth starting to move that many bytes. At most the number of cores of this process,
/// regardless of OMP_NUM_THREADS: nothing is computed meanwhile.
int threads_to_move(uint64_t bytes);

/// Calls work(item, begin, end) for ranges that cover all bytes of all items, on threads_to_move(all bytes) threads.
void parallel_for_bytes(const std::vector<uint64_t>& item_bytes,
                        const std::function<void(size_t item, uint64_t begin, uint64_t end)>& work);

}  // namespace accelerate
