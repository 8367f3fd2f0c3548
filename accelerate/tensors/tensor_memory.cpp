#include "accelerate/tensors/tensor_memory.h"

#include <cstdlib>
#include <string_view>

#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>
#include <malloc.h>
#include <pthread.h>

#include "accelerate/base/memory_pool.h"

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

/// Installed before main: a block must be freed by its allocator, and the first tensors may be static variables.
[[maybe_unused]] const bool installed = [] {
  const char* choice = std::getenv("ACCELERATE_TENSOR_MEMORY");
  if (choice && std::string_view(choice) == "system") return false;
  static auto* allocator = new PooledAllocator;  // never destroyed: threads may outlive static variables
  c10::SetCPUAllocator(allocator, /*priority=*/1);
  pthread_atfork([] { pool().lock(); }, [] { pool().unlock(); }, [] { pool().unlock(); });
  // Keeps other memory in the heap between steps, too. Setting one threshold disables glibc's dynamic adjustment of
  // both (mallopt(3)). The mmap threshold is set to the maximum that glibc would reach; otherwise every block above 128
  // KiB would get new pages.
  mallopt(M_TRIM_THRESHOLD, 64 << 20);
  mallopt(M_MMAP_THRESHOLD, 32 << 20);
  return true;
}();

}  // namespace

TensorMemory tensor_memory() { return {.in_use = pool().in_use(), .idle = pool().idle()}; }

void release_tensor_memory() { pool().release_idle(); }

}  // namespace accelerate::tensors
