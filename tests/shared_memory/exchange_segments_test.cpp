#include "accelerate/shared_memory/exchange_segments.h"

#include <doctest/doctest.h>

#include <numeric>

#include "accelerate/shared_memory/collectives.h"
#include "accelerate/shared_memory/local_group.h"
#include "tests/shared_memory/forked_ranks.h"
#include "tests/shared_memory/thread_ranks.h"
#include "tests/support/limit_resource.h"
#include "tests/support/temporary_directory.h"

using namespace accelerate;
using namespace accelerate::shared_memory;
using std::chrono::milliseconds;

namespace {

constexpr Call kBarrier{.operation = Operation::Barrier};

std::vector<std::vector<int>> one_machine(int size) {
  std::vector<int> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  return {ranks};
}

}  // namespace

TEST_CASE("processes of one machine meet and reduce over their memory") {
  for (int size : {1, 2, 4}) {
    tests::ForkedRanks ranks(size, [size](int rank, const KeyValueStore& store) {
      auto segments =
          exchange_segments(store, one_machine(size), rank, LocalGroup::exchange_options(size, milliseconds(10'000)));
      LocalGroup group(std::move(segments), milliseconds(10'000));
      auto offset = group.heap()->allocate(400'000);
      auto* numbers = reinterpret_cast<float*>(group.heap()->at(offset));
      for (int i = 0; i < 100'000; ++i) numbers[i] = static_cast<float>(rank + i);
      all_reduce(group.channel(), {group.heap()->at(offset), 100'000, DataType::Float32}, Reduction::Sum, offset);
      int wrong = 0;
      for (int i = 0; i < 100'000; ++i) wrong += numbers[i] != static_cast<float>(size * i + size * (size - 1) / 2);
      if (wrong > 0) fail(wrong, " of 100000 sums are wrong");
    });
    for (int rank = 0; rank < size; ++rank) CHECK(ranks.outcome(rank) == "returned");
  }
}

TEST_CASE("the ranks of each machine meet among themselves, and messages name them as the job does") {
  const std::vector<std::vector<int>> machines{{0, 2}, {1, 3}};
  tests::ForkedRanks ranks(4, [&](int rank, const KeyValueStore& store) {
    auto segments = exchange_segments(store, machines, rank, LocalGroup::exchange_options(2, milliseconds(10'000)));
    LocalGroup group(std::move(segments), milliseconds(10'000));
    int64_t sum = rank;
    all_reduce(group.channel(), {reinterpret_cast<std::byte*>(&sum), 1, DataType::Int64}, Reduction::Sum);
    if (sum != (rank % 2 == 0 ? 2 : 4)) fail("the sum is ", sum);
    if (rank == 3) return;
    group.channel().arrive_and_wait(kBarrier);
  });
  CHECK(ranks.outcome(3) == "returned");
  CHECK(ranks.outcome(1).find("rank 3 has left the group") != std::string::npos);
  for (int rank : {0, 2}) CHECK(ranks.outcome(rank) == "returned");
}

TEST_CASE("when one rank cannot share its memory, all learn the same reason") {
  tests::TemporaryDirectory directory;
  tests::run_threads(3, [&](int rank) {
    auto store = tests::file_store(directory.path());
    auto get = store.get;
    // As behind a network of its own: the address exists, but nobody can be reached there.
    store.get = [&, get](const std::string& key) { return key == "address/0" && rank == 2 ? "nowhere" : get(key); };
    CHECK_THROWS_WITH_AS(
        exchange_segments(store, one_machine(3), rank, LocalGroup::exchange_options(3, milliseconds(10'000))),
        doctest::Contains("rank 2: rank 0 cannot be reached through a UNIX socket"), Error);
  });
}

TEST_CASE("when the kernel refuses one rank its memory, all learn so") {
  constexpr size_t kSpare = size_t{64} << 20;
  for (int poor : {0, 1}) {
    for (bool by_addresses : {true, false}) {
      tests::ForkedRanks ranks(2, [&](int rank, const KeyValueStore& store) {
        if (rank == poor && by_addresses) tests::limit_resource(RLIMIT_AS, tests::used_addresses() + kSpare);
        if (rank == poor && !by_addresses) tests::limit_resource(RLIMIT_FSIZE, kSpare);
        exchange_segments(store, one_machine(2), rank, LocalGroup::exchange_options(2, milliseconds(10'000)));
      });
      const std::string reason = by_addresses ? "mapped: Cannot allocate memory" : "created: File too large";
      for (int rank = 0; rank < 2; ++rank) {
        const auto outcome = ranks.outcome(rank);
        CHECK_MESSAGE(outcome.find("rank " + std::to_string(poor) + ": shared memory of ") == 0, outcome);
        CHECK_MESSAGE(outcome.find(reason) != std::string::npos, outcome);
      }
    }
  }
}

TEST_CASE("a group that has failed can be created again in the same processes") {
  tests::TemporaryDirectory directory;
  tests::run_threads(2, [&](int rank) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      auto store = tests::file_store(directory.path() / std::to_string(attempt));
      auto segments =
          exchange_segments(store, one_machine(2), rank, LocalGroup::exchange_options(2, milliseconds(10'000)));
      LocalGroup group(std::move(segments), milliseconds(100));
      if (rank == 0 || attempt == 1) {
        if (attempt == 0) CHECK_THROWS_AS(group.channel().arrive_and_wait(kBarrier), PeerError);
        if (attempt == 1) group.channel().arrive_and_wait(kBarrier);
      }
    }
  });
}
