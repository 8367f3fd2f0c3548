#include "accelerate/train/executable_batch_size.h"
#include "tests/support/torch.h"

#include <new>
#include <stdexcept>
#include <vector>

#include <doctest/doctest.h>

using namespace accelerate;

TEST_CASE("the batch shrinks by a tenth until it fits") {
  std::vector<int64_t> tried;
  const auto fits = find_executable_batch_size([&](int64_t batch_size) {
    tried.push_back(batch_size);
    if (batch_size != 8) throw std::runtime_error("CUDA out of memory. Tried to allocate 2 GiB");
    return batch_size;
  });
  CHECK(fits == 8);
  CHECK(tried == std::vector<int64_t>{128, 115, 103, 92, 82, 73, 65, 58, 52, 46, 41, 36,
                                      32,  28,  25,  22, 19, 17, 15, 13, 11, 9,  8});
}

TEST_CASE("reduce_batch_size_fn gives the next size, without an argument as in Python") {
  std::vector<int64_t> tried;
  int64_t size = 100;
  const auto attempt = [&](int64_t batch_size, int64_t fits) {
    tried.push_back(batch_size);
    if (batch_size > fits) throw std::bad_alloc();
    return batch_size;
  };
  const BatchSizeOptions halves{.starting_batch_size = 100, .reduce_batch_size_fn = [&] { return size /= 2; }};
  CHECK(find_executable_batch_size(attempt, halves, 20) == 12);
  CHECK(tried == std::vector<int64_t>{100, 50, 25, 12});

  size = 3;
  CHECK_THROWS_WITH_AS(find_executable_batch_size(
                           attempt, {.starting_batch_size = 3, .reduce_batch_size_fn = [&] { return size /= 2; }}, 0),
                       doctest::Contains("no batch size from 3 down"), Error);
  CHECK_THROWS_WITH_AS(
      find_executable_batch_size(attempt, {.starting_batch_size = 8, .reduce_batch_size_fn = [] { return 8; }}, 0),
      doctest::Contains("returned 8 after a batch of 8"), Error);
}

TEST_CASE("further arguments are handed on by reference, and again at every attempt") {
  int calls = 0;
  const auto sum = find_executable_batch_size(
      [](int64_t batch_size, int& calls, int offset) {
        if (++calls < 3) throw std::bad_alloc();
        return batch_size + offset;
      },
      100, calls, 7);
  CHECK(sum == 81 + 7);
  CHECK(calls == 3);
}

TEST_CASE("every kind of running out of memory counts") {
  const auto attempts_with = [](auto&& run_out) {
    int attempts = 0;
    find_executable_batch_size(
        [&](int64_t) {
          if (++attempts == 1) run_out();
        },
        2);
    return attempts;
  };
  CHECK(attempts_with([] { throw std::bad_alloc(); }) == 2);
  CHECK(attempts_with([] { TORCH_CHECK_WITH(OutOfMemoryError, false, "no room"); }) == 2);
  CHECK(attempts_with([] { throw std::runtime_error("cuDNN error: CUDNN_STATUS_NOT_SUPPORTED."); }) == 2);
  CHECK(attempts_with([] { torch::empty({int64_t{1} << 60}, torch::kByte); }) == 2);  // libtorch's own CPU allocator
}

TEST_CASE("no size that fits is an error; other exceptions pass through at once") {
  const auto never = [](int64_t) { throw std::bad_alloc(); };
  CHECK_THROWS_WITH_AS(find_executable_batch_size(never, 16), doctest::Contains("no batch size from 16 down"), Error);
  CHECK_THROWS_WITH_AS(find_executable_batch_size(never, 0), doctest::Contains("no batch size from 0 down"), Error);
  int calls = 0;
  const auto broken = [&](int64_t) {
    ++calls;
    throw std::invalid_argument("Oops, we had an error!");
  };
  CHECK_THROWS_AS(find_executable_batch_size(broken), std::invalid_argument);
  CHECK(calls == 1);
}
