#pragma once

// The CPU allocator of tensors: large ones come from a pool (base/memory_pool.h). Linking the library installs it.
// ACCELERATE_TENSOR_MEMORY=system keeps libtorch's allocator.

#include <cstddef>

namespace accelerate::tensors {

struct TensorMemory {
  size_t in_use = 0;  // by large tensors
  size_t idle = 0;    // kept for later tensors
};

/// Returns the bytes that the pool holds now.
TensorMemory tensor_memory();

/// Returns idle memory to the system.
void release_tensor_memory();

}  // namespace accelerate::tensors
