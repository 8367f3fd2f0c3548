#include "accelerate/shared_memory/all_gather_slices.h"

#include <sys/syscall.h>

#include <cstddef>
#include <numeric>

#include <doctest/doctest.h>

#include "accelerate/shared_memory/local_group.h"
#include "tests/shared_memory/forked_ranks.h"
#include "tests/shared_memory/thread_ranks.h"
#include "tests/support/forbid_call.h"

using namespace accelerate;
using namespace accelerate::shared_memory;

namespace {

using Numbers = std::vector<int64_t>;

constexpr size_t kStageNumbers = kStageBytes / sizeof(int64_t);

std::span<std::byte> bytes_of(Numbers& numbers) {
  return {reinterpret_cast<std::byte*>(numbers.data()), numbers.size() * sizeof(int64_t)};
}

/// Arrays of numbers in shards of these lengths.
SlicePlan plan_of(const std::vector<std::pair<Numbers, size_t>>& arrays, std::vector<std::vector<Slice>> rounds) {
  SlicePlan plan{.tensors = {}, .rounds = std::move(rounds)};
  for (const auto& [numbers, shard_length] : arrays) {
    plan.tensors.push_back({.length = static_cast<int64_t>(numbers.size()),
                            .shard_length = static_cast<int64_t>(shard_length),
                            .element_bytes = sizeof(int64_t)});
  }
  return plan;
}

/// Exchanges two arrays in three rounds. The last rank has nothing of the second array, the others more than a stage
/// holds. Whether all of it arrives.
bool exchange_works(Channel& channel, const PeerMemory& peers) {
  const int size = channel.size();
  constexpr auto kLong = static_cast<int64_t>(kStageNumbers) + 7;
  Numbers first(10 * size - 1, -1), second((size - 1) * kLong, -1);
  const auto plan =
      plan_of({{first, 10}, {second, kLong}}, {{{0, 0, 4}, {0, 4, 0}, {0, 4, 6}}, {{1, 0, kLong}}, {{1, kLong, 0}}});
  all_gather_slices(channel, peers, {bytes_of(first), bytes_of(second)}, plan, [&](size_t round) {
    for (const auto& slice : slices_of_rank(plan, round, channel.rank())) {
      const auto from = (slice.tensor == 0 ? first : second).begin() + slice.begin;
      std::iota(from, from + slice.length, slice.begin);
    }
  });
  auto complete = [](const Numbers& numbers) {
    Numbers expected(numbers.size());
    std::iota(expected.begin(), expected.end(), 0);
    return numbers == expected;
  };
  return complete(first) && complete(second);
}

/// A rank of `size` in a process of its own.
LocalGroup join(const KeyValueStore& store, int rank, int size) {
  constexpr auto kLimit = std::chrono::seconds(20);
  std::vector<int> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  return LocalGroup(exchange_segments(store, {ranks}, rank, LocalGroup::exchange_options(size, kLimit)), kLimit);
}

}  // namespace

TEST_CASE("all ranks get the slices of all ranks, through staging buffers and by writes to the memory of others") {
  for (int size : {1, 2, 3}) {
    tests::LocalMemory memory(size);
    tests::run_channels(memory, [](Channel& channel) {
      CHECK(exchange_works(channel, PeerMemory()));
      PeerMemory peers(channel);
      CHECK(peers.reachable());
      CHECK(exchange_works(channel, peers));
    });
  }
}

TEST_CASE("processes write to each other's memory, and none of them when one may not") {
  for (bool permitted : {true, false}) {
    tests::ForkedRanks ranks(3, [&](int rank, const KeyValueStore& store) {
      auto group = join(store, rank, 3);
      if (!permitted && rank == 1) tests::forbid_call(SYS_process_vm_writev);
      PeerMemory peers(group.channel());
      if (peers.reachable() != permitted) fail("reachable is ", peers.reachable());
      if (!exchange_works(group.channel(), peers)) fail("what others made is missing");
    });
    for (int rank = 0; rank < 3; ++rank) CHECK(ranks.outcome(rank) == "returned");
  }
}

TEST_CASE("arrays of different lengths are an error on every rank, before anything is written") {
  tests::LocalMemory memory(2);
  tests::run_channels(memory, [](Channel& channel) {
    PeerMemory peers(channel);
    Numbers first(2 + channel.rank()), second(3 - channel.rank());
    CHECK_THROWS_WITH_AS(all_gather_slices(channel, peers, {bytes_of(first), bytes_of(second)},
                                           plan_of({{first, 1}, {second, 2}}, {{{0, 0, 1}}}), [](size_t) {}),
                         doctest::Contains("array 0 has 16 bytes on rank 0 and 24 on rank 1"), Error);
  });
}

TEST_CASE("a rank that ends during an exchange is named") {
  tests::ForkedRanks ranks(2, [](int rank, const KeyValueStore& store) {
    auto group = join(store, rank, 2);
    PeerMemory peers(group.channel());
    Numbers numbers(2);
    all_gather_slices(group.channel(), peers, {bytes_of(numbers)}, plan_of({{numbers, 1}}, {{{0, 0, 1}}}), [&](size_t) {
      if (rank == 1) raise(SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
    });
  });
  CHECK(ranks.outcome(0).find("the process of rank 1 has ended") == 0);
}
