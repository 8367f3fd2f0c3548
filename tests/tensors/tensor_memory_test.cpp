#include "accelerate/tensors/tensor_memory.h"
#include "tests/support/torch.h"

#include <doctest/doctest.h>

#include <cstdlib>
#include <cstring>

#include <sys/resource.h>

using namespace accelerate;

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
