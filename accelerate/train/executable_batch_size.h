#pragma once

// Finds the largest batch size that fits into memory, by trying.

#include <cstdint>
#include <exception>
#include <functional>
#include <utility>

#include "accelerate/base/error.h"

namespace accelerate::train {

/// Whether `error` is an out-of-memory error of a device or the host, or cuDNN's error for unsupported sizes.
bool should_reduce_batch_size(const std::exception& error);

/// Releases the unused memory that torch's allocators cache.
void clear_device_cache();

struct BatchSizeOptions {
  int64_t starting_batch_size = 128;
  std::function<int64_t()> reduce_batch_size_fn = nullptr;  // returns the next size; empty: 0.9 times the last
};

/// The size to try after `batch_size`. Throws Error if reduce_batch_size_fn does not return a smaller one.
int64_t next_batch_size(int64_t batch_size, const BatchSizeOptions& options);

/// Returns `function(batch_size, arguments...)`. Tries `starting_batch_size` first. Whenever memory runs out, retries
/// with 0.9 times the size, or with the result of `reduce_batch_size_fn`. Create everything that depends on the size
/// inside the function. Call accelerator.free_memory() at its top, because a failed try leaves objects behind, and at
/// its end, when prepared objects go out of scope. Throws Error if the size reaches zero or does not decrease; other
/// exceptions propagate.
template <class Function, class... Arguments>
decltype(auto) find_executable_batch_size(Function&& function, const BatchSizeOptions& options,
                                          Arguments&&... arguments) {
  clear_device_cache();
  for (int64_t batch_size = options.starting_batch_size; batch_size > 0;) {
    try {
      return function(batch_size, arguments...);
    } catch (const std::exception& error) {
      if (!should_reduce_batch_size(error)) throw;
    }
    // Outside the handler, because the exception may hold memory too.
    clear_device_cache();
    batch_size = next_batch_size(batch_size, options);
  }
  fail("find_executable_batch_size: no batch size from ", options.starting_batch_size, " down fits into memory");
}

/// The same from `starting_batch_size` down, by factors of 0.9.
template <class Function, class... Arguments>
decltype(auto) find_executable_batch_size(Function&& function, int64_t starting_batch_size = 128,
                                          Arguments&&... arguments) {
  return find_executable_batch_size(std::forward<Function>(function),
                                    BatchSizeOptions{.starting_batch_size = starting_batch_size},
                                    std::forward<Arguments>(arguments)...);
}

}  // namespace accelerate::train

namespace accelerate {
using train::BatchSizeOptions;
using train::find_executable_batch_size;
}  // namespace accelerate
