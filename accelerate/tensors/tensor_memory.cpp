#include "accelerate/tensors/tensor_memory.h"

#include <cstdint>

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <malloc.h>
#include <pthread.h>

#include "accelerate/tensors/memory_pool.h"

namespace accelerate::tensors {

namespace {

constexpr size_t kLarge = size_t{128} << 10;  // malloc already reuses smaller blocks

/// Never destroyed: tensors in static variables may outlive it otherwise.
MemoryPool& pool() {
  static auto* pool = new MemoryPool;
  return *pool;
}

void release(void* memory) {
  if (!memory) return;
  c10::profiledCPUMemoryReporter().Delete(memory);
  bool maybe_ours = reinterpret_cast<uintptr_t>(memory) % MemoryPool::kGranule == 0;
  if (!maybe_ours || !pool().free(memory)) c10::free_cpu(memory);
}

class PooledAllocator final : public c10::Allocator {
 public:
  c10::DataPtr allocate(size_t bytes) override {
    void* memory = bytes >= kLarge ? pool().allocate(bytes) : nullptr;
    if (!memory) memory = c10::alloc_cpu(bytes);  // reports out-of-memory as libtorch does
    c10::profiledCPUMemoryReporter().New(memory, bytes);
    return {memory, memory, &release, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &release; }
  void copy_data(void* destination, const void* source, size_t bytes) const override {
    default_copy_data(destination, source, bytes);
  }
};

}  // namespace

void install_pooled_allocator() {
  if (c10::GetCPUAllocator() != c10::GetDefaultCPUAllocator()) return;
  static auto* allocator = new PooledAllocator;  // never destroyed: threads may outlive static variables
  c10::SetCPUAllocator(allocator);
  static const int fork_handlers =
      pthread_atfork([] { pool().lock(); }, [] { pool().unlock(); }, [] { pool().unlock(); });
  static_cast<void>(fork_handlers);
}

void raise_malloc_thresholds() {
  // Setting one threshold disables glibc's dynamic adjustment of both. The mmap threshold is the maximum that glibc
  // would reach; otherwise every block above 128 KiB would get new pages.
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
}

TensorMemory tensor_memory() { return {.in_use = pool().in_use(), .idle = pool().idle()}; }

void release_tensor_memory() { pool().release_idle(); }

}  // namespace accelerate::tensors
