#pragma once

// Where the memory of tensors on the CPU comes from: large ones from a pool (base/memory_pool.h), in every program that
// links the library. ACCELERATE_TENSOR_MEMORY=system leaves it to libtorch.

#include <cstddef>

namespace accelerate::tensors {

struct TensorMemory {
  size_t in_use = 0;  // by large tensors
  size_t idle = 0;    // kept for the next ones
};

/// What the pool holds at the moment.
TensorMemory tensor_memory();

/// Gives what is idle back to the system.
void release_tensor_memory();

}  // namespace accelerate::tensors
