#include "accelerate/tensors/tensor_memory.h"
#include "tests/support/torch.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>
#include <optional>

#include <c10/core/CPUAllocator.h>
#include <sys/resource.h>

using namespace accelerate;

// The first, because the allocator stays: the other tests find it installed.
TEST_CASE("memory from before the pool goes back to libtorch's allocator") {
  auto* theirs = c10::GetCPUAllocator();
  CHECK(theirs == c10::GetDefaultCPUAllocator());
  auto kept = torch::full({1 << 20}, 3.0), grown = torch::full({1 << 20}, 4.0);
  std::optional<torch::Tensor> freed = torch::ones({1 << 20});
  void* raw = theirs->raw_allocate(1 << 20);
  CHECK(tensors::tensor_memory().in_use == 0);

  tensors::install_pooled_allocator();
  auto* ours = c10::GetCPUAllocator();
  CHECK(ours != theirs);
  freed.reset();
  ours->raw_deallocate(raw);  // a pair that spans the change
  ours->raw_deallocate(ours->raw_allocate(1 << 20));
  ours->raw_deallocate(ours->raw_allocate(100));
  grown.resize_({1 << 21});  // a storage keeps its allocator
  CHECK(tensors::tensor_memory().in_use == 0);
  CHECK(grown.slice(0, 0, 1 << 20).eq(4).all().item<bool>());
  kept.set_(torch::full({1 << 20}, 5.0));
  CHECK(tensors::tensor_memory().in_use == 4 << 20);
  CHECK(kept.sum().item<double>() == 5 << 20);
}

TEST_CASE("the pool does not replace an allocator that the program has set, and gives way to one that it sets later") {
  auto* ours = c10::GetCPUAllocator();
  CHECK(ours != c10::GetDefaultCPUAllocator());
  struct Own final : c10::Allocator {
    c10::DataPtr allocate(size_t bytes) override { return c10::GetDefaultCPUAllocator()->allocate(bytes); }
    void copy_data(void* to, const void* from, size_t bytes) const override { default_copy_data(to, from, bytes); }
  } own;
  c10::SetCPUAllocator(&own);
  CHECK(c10::GetCPUAllocator() == &own);
  tensors::install_pooled_allocator();
  CHECK(c10::GetCPUAllocator() == &own);
  c10::SetCPUAllocator(ours);
}

TEST_CASE("a large tensor's memory comes from the pool and goes back to it") {
  auto before = tensors::tensor_memory();
  void* place = nullptr;
  {
    auto large = torch::ones({1 << 20});
    place = large.data_ptr();
    CHECK(tensors::tensor_memory().in_use == before.in_use + (4 << 20));
  }
  CHECK(tensors::tensor_memory().in_use == before.in_use);
  CHECK(torch::ones({1 << 20}).data_ptr() == place);
}

TEST_CASE("a small tensor does not touch the pool, and an empty one needs no memory") {
  auto before = tensors::tensor_memory();
  auto small = torch::ones({100});
  auto none = torch::empty({0});
  CHECK(tensors::tensor_memory().in_use == before.in_use);
}

TEST_CASE("idle memory of tensors can be given back") {
  torch::ones({1 << 20});
  CHECK(tensors::tensor_memory().idle > 0);
  tensors::release_tensor_memory();
  torch::Tensor kept = torch::ones({1 << 20});
  CHECK(kept.sum().item<float>() == (1 << 20));
}

TEST_CASE("memory of others than tensors is used again without new pages, too") {
  tensors::raise_malloc_thresholds();
  auto use = [] {
    void* volatile memory = std::malloc(1 << 20);  // volatile: else the compiler leaves all of it out
    std::memset(memory, 1, 1 << 20);
    std::free(memory);
  };
  auto num_faults = [] {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_minflt;
  };
  use();
  auto before = num_faults();
  for (int i = 0; i < 100; ++i) use();
  CHECK(num_faults() - before < 2560);  // a tenth of the pages
}

TEST_CASE("memory that cannot be had is libtorch's error") {
  CHECK_THROWS_WITH_AS(torch::empty({int64_t{1} << 50}), doctest::Contains("can't allocate memory"), c10::Error);
}
