#include "accelerate/base/parallel_for.h"

#include <doctest/doctest.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "accelerate/base/cpu.h"
#include "accelerate/base/error.h"

using namespace accelerate;

TEST_CASE("everything is done once, whatever the numbers of pieces and threads") {
  for (size_t count : {0, 1, 2, 7, 1000}) {
    for (int threads : {0, 1, 2, 5}) {
      CAPTURE(count);
      CAPTURE(threads);
      std::vector<std::atomic<int>> times(count);
      parallel_for(count, threads, [&](size_t index) { ++times[index]; });
      for (const auto& done : times) CHECK(done == 1);
    }
  }
}

TEST_CASE("work that waits for other work shows that it runs beside it") {
  std::atomic<int> arrived = 0;
  parallel_for(3, 3, [&](size_t) {
    ++arrived;
    while (arrived < 3) std::this_thread::yield();
  });
  CHECK(arrived == 3);
}

TEST_CASE("an exception is thrown when all threads have ended, and nothing is begun after it") {
  std::atomic<int> begun = 0;
  auto work = [&](size_t index) {
    ++begun;
    if (index == 0) fail("piece 0 is broken");
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  };
  CHECK_THROWS_WITH_AS(parallel_for(1'000'000, 2, work), "piece 0 is broken", Error);
  CHECK(begun < 1'000'000);
}

TEST_CASE("the parts of items are all their bytes, each once") {
  const std::vector<uint64_t> sizes = {0, 1, (4 << 20) - 1, 4 << 20, (4 << 20) + 1, 50 << 20};
  std::vector<std::atomic<uint64_t>> bytes(sizes.size()), sums(sizes.size());
  parallel_for_bytes(sizes, [&](size_t item, uint64_t begin, uint64_t end) {
    bytes[item] += end - begin;
    sums[item] += end * end - begin * begin;  // of parts that touch each other: the square of the last end
  });
  for (size_t item = 0; item < sizes.size(); ++item) {
    CHECK(bytes[item] == sizes[item]);
    CHECK(sums[item] == sizes[item] * sizes[item]);
  }
}

TEST_CASE("few bytes are moved by one thread, many by no more than there are cores") {
  CHECK(threads_to_move(0) == 1);
  CHECK(threads_to_move(16 << 20) == 1);
  CHECK(threads_to_move(uint64_t{1} << 40) >= 1);
  CHECK(threads_to_move(uint64_t{1} << 40) <= available_cores());
}
