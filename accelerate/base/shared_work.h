#pragma once

// Work that several threads share. Meant for reading, copying and summing up many bytes between computations: one core
// alone does that slower than the memory could.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace accelerate {

/// Calls work(0) to work(count - 1) on up to `threads` threads, of which the caller is one; each takes the next number
/// that nobody has taken. Returns when all are done. After an exception nothing more is begun, and the first is thrown.
void share_out(size_t count, int threads, const std::function<void(size_t index)>& work);

/// How many threads are worth starting to move that many bytes. As many as this process has cores at most, whatever
/// OMP_NUM_THREADS says: nothing is computed meanwhile.
int threads_to_move(uint64_t bytes);

/// Calls work(item, begin, end) for parts that together are all bytes of all items, on threads as many as are worth it.
void share_out_bytes(const std::vector<uint64_t>& item_bytes,
                     const std::function<void(size_t item, uint64_t begin, uint64_t end)>& work);

}  // namespace accelerate
