#pragma once

// The CPU allocator of tensors: large ones come from a pool (memory_pool.h).

#include <cstddef>

namespace accelerate::tensors {

/// Makes the pool libtorch's CPU allocator for the rest of the process, and registers fork handlers for it
/// (pthread_atfork(3)). Tensors that exist keep their memory, which libtorch's allocator frees. Does nothing if the
/// program has set an allocator of its own; one that it sets later replaces the pool.
void install_pooled_allocator();

/// Makes malloc keep freed memory in the heap, up to 64 MiB, and take blocks below 32 MiB from there (mallopt(3)).
void raise_malloc_thresholds();

struct TensorMemory {
  size_t in_use = 0;  // by large tensors
  size_t idle = 0;    // kept for later tensors
};

/// Returns the bytes that the pool holds now.
TensorMemory tensor_memory();

/// Returns idle memory to the system.
void release_tensor_memory();

}  // namespace accelerate::tensors
