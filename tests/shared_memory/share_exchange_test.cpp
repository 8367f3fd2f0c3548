#include "accelerate/shared_memory/share_exchange.h"

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

Part part(size_t array, size_t begin, size_t length) {
  return {array, begin * sizeof(int64_t), length * sizeof(int64_t)};
}

/// Exchanges two arrays in two rounds. The first rank has nothing of the second array, the others more than a stage
/// holds. Whether all of it arrives.
bool exchange_works(Channel& channel, const PeerMemory& peers) {
  const int size = channel.size();
  Numbers first(10 * size, -1), second((size - 1) * (kStageNumbers + 7), -1);
  exchange_shares(channel, peers, {bytes_of(first), bytes_of(second)}, 2, [&](size_t round) {
    Shares shares(size);
    for (size_t rank = 0; rank < shares.size(); ++rank) {
      if (round == 0) shares[rank] = {part(0, 10 * rank, 4), part(0, 10 * rank + 4, 0), part(0, 10 * rank + 4, 6)};
      if (round == 1 && rank > 0) shares[rank] = {part(1, (rank - 1) * (kStageNumbers + 7), kStageNumbers + 7)};
    }
    auto& made = round == 0 ? first : second;
    for (const auto& [array, begin, length] : shares[channel.rank()]) {
      const auto from = made.begin() + static_cast<std::ptrdiff_t>(begin / sizeof(int64_t));
      std::iota(from, from + static_cast<std::ptrdiff_t>(length / sizeof(int64_t)), begin / sizeof(int64_t));
    }
    return shares;
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

TEST_CASE("exchanged shares are everyone's, through the stages and straight into the memory of the others") {
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
    CHECK_THROWS_WITH_AS(exchange_shares(channel, peers, {bytes_of(first), bytes_of(second)}, 1,
                                         [](size_t) { return Shares{{part(0, 0, 1)}, {part(0, 1, 1)}}; }),
                         doctest::Contains("array 0 has 16 bytes on rank 0 and 24 on rank 1"), Error);
  });
}

TEST_CASE("a rank that ends during an exchange is named") {
  tests::ForkedRanks ranks(2, [](int rank, const KeyValueStore& store) {
    auto group = join(store, rank, 2);
    PeerMemory peers(group.channel());
    Numbers numbers(2);
    exchange_shares(group.channel(), peers, {bytes_of(numbers)}, 1, [&](size_t) {
      if (rank == 1) raise(SIGKILL);
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
      return Shares{{part(0, 0, 1)}, {part(0, 1, 1)}};
    });
  });
  CHECK(ranks.outcome(0).find("the process of rank 1 has ended") == 0);
}
