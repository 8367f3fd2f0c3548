#include "accelerate/tensors/tensor_memory.h"
#include "tests/support/torch.h"

#include <doctest/doctest.h>

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

TEST_CASE("memory that cannot be had is libtorch's error") {
  CHECK_THROWS_WITH_AS(torch::empty({int64_t{1} << 50}), doctest::Contains("can't allocate memory"), c10::Error);
}
