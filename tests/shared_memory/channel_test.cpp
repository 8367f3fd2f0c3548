#include "accelerate/shared_memory/channel.h"

#include <doctest/doctest.h>

#include <ctime>

#include "tests/shared_memory/thread_ranks.h"
#include "tests/support/time_limit.h"

using namespace accelerate;
using namespace accelerate::shared_memory;

namespace {

constexpr Call kBarrier{.operation = Operation::Barrier};

double process_cpu_seconds() {
  timespec now{};
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

}  // namespace

TEST_CASE("in a round every rank reads what the others brought, round after round") {
  for (int size : {1, 2, 5}) {
    tests::LocalMemory memory(size);
    tests::run_channels(memory, [](Channel& channel) {
      int wrong = 0;
      for (int round = 0; round < 3000; ++round) {
        auto* mine = reinterpret_cast<int*>(channel.stage());
        for (int i = 0; i < 64; ++i) mine[i] = round + 1000 * channel.rank();
        channel.arrive_and_wait(kBarrier, round * 10 + channel.rank());
        for (int rank = 0; rank < channel.size(); ++rank) {
          const auto* theirs = reinterpret_cast<const int*>(channel.staged(rank));
          wrong += theirs[0] != round + 1000 * rank || theirs[63] != round + 1000 * rank;
          wrong += channel.payload_of(rank) != static_cast<uint64_t>(round * 10 + rank);
        }
      }
      CHECK(wrong == 0);
    });
  }
}

TEST_CASE("calls that differ are an error on every rank, which names all of them, and the group goes on") {
  tests::LocalMemory memory(3);
  tests::run_channels(memory, [](Channel& channel) {
    Call reduce{.operation = Operation::AllReduce, .type = DataType::Float32, .reduction = Reduction::Sum, .count = 4};
    auto message = doctest::Contains("Process 0: allreduce of 4 x float32 (sum)\n  - Process 1: barrier");
    CHECK_THROWS_WITH_AS(channel.arrive_and_wait(channel.rank() == 1 ? kBarrier : reduce), message, Error);
    Call other = reduce;
    if (channel.rank() == 2) other.count = 5;
    CHECK_THROWS_WITH_AS(channel.arrive_and_wait(other), doctest::Contains("Process 2: allreduce of 5 x float32"),
                         Error);
    channel.arrive_and_wait(reduce);
  });
}

TEST_CASE("a rank that does not come is named when the time is up, and the group is broken from then on") {
  tests::LocalMemory memory(3);
  tests::run_channels(
      memory,
      [](Channel& channel) {
        if (channel.rank() == 1) return;
        CHECK_THROWS_WITH_AS(channel.arrive_and_wait(kBarrier), doctest::Contains("did not take part: 1 (barrier"),
                             PeerError);
        CHECK_THROWS_WITH_AS(channel.arrive_and_wait(kBarrier), doctest::Contains("stopped waiting"), PeerError);
      },
      std::chrono::milliseconds(200));
}

TEST_CASE("a rank that leaves is named at once, but the round to which it came counts") {
  tests::LocalMemory memory(2);
  tests::run_threads(2, [&](int rank) {
    auto channel = std::make_unique<Channel>(memory.view(), rank, std::chrono::minutes(10));
    channel->arrive_and_wait(kBarrier);
    if (rank == 1) return channel.reset();
    CHECK_THROWS_WITH_AS(channel->arrive_and_wait(kBarrier), doctest::Contains("rank 1 has left the group"), PeerError);
  });
}

TEST_CASE("ranks that outnumber the cores sleep while they wait") {
  tests::LocalMemory memory(8);
  constexpr int kRounds = 300;
  double before = process_cpu_seconds();
  tests::run_channels(memory, [](Channel& channel) {
    for (int i = 0; i < kRounds; ++i) channel.arrive_and_wait(kBarrier);
  });
  // Spinning until the others have had their turn would take a time slice, milliseconds, for each.
  double limit = 1e-3 * static_cast<double>(tests::limit_of(std::chrono::milliseconds(1)).count());
  CHECK((process_cpu_seconds() - before) / kRounds < limit);
}
