#pragma once

// Training with the largest batch that fits into memory, found by trying.

#include <cstdint>
#include <exception>
#include <functional>
#include <utility>

#include "accelerate/base/error.h"

namespace accelerate::train {

/// Whether `error` says that a device or the host ran out of memory, or that cuDNN refused a size.
bool should_reduce_batch_size(const std::exception& error);

/// Gives memory that torch's allocators keep for later back to the device.
void clear_device_cache();

struct BatchSizeOptions {
  int64_t starting_batch_size = 128;
  std::function<int64_t()> reduce_batch_size_fn = nullptr;  // gives the next size to try; empty: 0.9 of the one before
};

/// The size to try after `batch_size`. Throws Error when a function of the user's does not give a smaller one.
int64_t next_batch_size(int64_t batch_size, const BatchSizeOptions& options);

/// Returns `function(batch_size, arguments...)`, tried with `starting_batch_size` and then, each time memory runs out,
/// with 0.9 of the size before, or with what `reduce_batch_size_fn` gives. Create what depends on the size inside the
/// function, and call accelerator.free_memory() at its top, since a try that failed left something behind, and at its
/// end, where what it prepared ends. Throws Error when the size reaches zero or does not fall; other exceptions pass
/// through.
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
    // Outside the handler: the exception may hold memory too.
    clear_device_cache();
    batch_size = next_batch_size(batch_size, options);
  }
  fail("find_executable_batch_size: no batch size from ", options.starting_batch_size, " down fits into memory");
}

/// The same from `starting_batch_size` down, in steps of 0.9.
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
