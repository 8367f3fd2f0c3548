#include "accelerate/shared_memory/meeting.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iterator>

#include "accelerate/shared_memory/collectives.h"
#include "accelerate/shared_memory/local_group.h"
#include "tests/shared_memory/forked_ranks.h"
#include "tests/shared_memory/thread_ranks.h"
#include "tests/support/temporary_directory.h"
#include "tests/support/time_limit.h"

using namespace accelerate;
using namespace accelerate::shared_memory;
using std::chrono::milliseconds;

namespace {

constexpr Call kBarrier{.operation = Operation::Barrier};

Machines one_machine(int size) { return group_by_machine(std::vector<std::string>(size, "here")); }

/// What befalls a rank, and how the others tell of it.
struct Fault {
  int signal;
  std::string before_rank;
  std::string after_rank;
};

// A stopped rank is missed when the time is up; all others at once.
const Fault kFaults[] = {{SIGKILL, "the process of rank ", " has ended"},
                         {SIGUSR1, "rank ", " has left the group"},
                         {SIGKILL, "the process of rank ", " has ended"},
                         {SIGSTOP, "did not take part: ", ""}};
constexpr int kFaultyRanks = 3;
constexpr double kSecondsToNotice = 0.05;

volatile sig_atomic_t wants_too_much = 0;

/// Until it is killed, or until SIGUSR1 makes it ask for more memory than there is.
void reduce_for_ever(int rank, const NoticeBoard& board) {
  std::signal(SIGUSR1, [](int) { wants_too_much = 1; });
  auto meeting =
      meet(board, one_machine(kFaultyRanks), rank, LocalGroup::meeting_options(kFaultyRanks, milliseconds(10'000)));
  LocalGroup group(std::move(meeting), milliseconds(500));
  tests::ForkedRanks::note_memory(rank, board);
  std::vector<float> numbers(300'000);
  while (true) {
    if (wants_too_much) group.heap()->allocate(size_t{1} << 62);
    all_reduce(group.channel(), {reinterpret_cast<std::byte*>(numbers.data()), numbers.size(), DataType::Float32},
               Reduction::Sum);
    barrier(group.channel());
  }
}

}  // namespace

TEST_CASE("processes of one machine meet and reduce over their memory") {
  for (int size : {1, 2, 4}) {
    tests::ForkedRanks ranks(size, [size](int rank, const NoticeBoard& board) {
      auto meeting = meet(board, one_machine(size), rank, LocalGroup::meeting_options(size, milliseconds(10'000)));
      LocalGroup group(std::move(meeting), milliseconds(10'000));
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
  const Machines machines{{0, 2}, {1, 3}};
  tests::ForkedRanks ranks(4, [&](int rank, const NoticeBoard& board) {
    auto meeting = meet(board, machines, rank, LocalGroup::meeting_options(2, milliseconds(10'000)));
    LocalGroup group(std::move(meeting), milliseconds(10'000));
    int64_t sum = rank;
    all_reduce(group.channel(), {reinterpret_cast<std::byte*>(&sum), 1, DataType::Int64}, Reduction::Sum);
    if (sum != (rank % 2 == 0 ? 2 : 4)) fail("the sum is ", sum);
    if (rank == 3) return;
    group.channel().meet(kBarrier);
  });
  CHECK(ranks.outcome(3) == "returned");
  CHECK(ranks.outcome(1).find("rank 3 has left the group") != std::string::npos);
  for (int rank : {0, 2}) CHECK(ranks.outcome(rank) == "returned");
}

TEST_CASE("when one rank cannot share its memory, all learn the same reason") {
  tests::TemporaryDirectory directory;
  tests::run_threads(3, [&](int rank) {
    auto board = tests::file_board(directory.path());
    auto read = board.read;
    // As behind a network of its own: the address exists, but nobody can be reached there.
    board.read = [&, read](const std::string& key) { return key == "address/0" && rank == 2 ? "nowhere" : read(key); };
    CHECK_THROWS_WITH_AS(meet(board, one_machine(3), rank, LocalGroup::meeting_options(3, milliseconds(10'000))),
                         doctest::Contains("rank 2: rank 0 cannot be reached through a UNIX socket"), Error);
  });
}

TEST_CASE("a group that is broken can be made anew in the same processes") {
  tests::TemporaryDirectory directory;
  tests::run_threads(2, [&](int rank) {
    for (int attempt = 0; attempt < 2; ++attempt) {
      auto board = tests::file_board(directory.path() / std::to_string(attempt));
      auto meeting = meet(board, one_machine(2), rank, LocalGroup::meeting_options(2, milliseconds(10'000)));
      LocalGroup group(std::move(meeting), milliseconds(100));
      if (rank == 0 || attempt == 1) {
        if (attempt == 0) CHECK_THROWS_AS(group.channel().meet(kBarrier), PeerError);
        if (attempt == 1) group.channel().meet(kBarrier);
      }
    }
  });
}

TEST_CASE(
    "a rank that is killed, stopped or out of memory at any moment is named by all others, and no memory is left") {
  const int num_faults = std::getenv("ACCELERATE_TEST_FULL") ? 200 : 20;
  std::vector<double> seconds_to_notice;
  for (int number = 0; number < num_faults; ++number) {
    const auto fault = kFaults[number % std::size(kFaults)];
    const int victim = number % kFaultyRanks;
    tests::ForkedRanks ranks(kFaultyRanks, reduce_for_ever);
    ranks.wait_until_connected();
    std::this_thread::sleep_for(std::chrono::microseconds(number * 137 % 5000));
    const auto begin = std::chrono::steady_clock::now();
    ranks.send_signal(victim, fault.signal);
    for (int rank = 0; rank < kFaultyRanks; ++rank) {
      if (rank == victim) continue;
      const auto outcome = ranks.outcome(rank);
      INFO(outcome);
      CHECK(outcome.find(fault.before_rank + std::to_string(victim) + fault.after_rank) != std::string::npos);
      const std::chrono::duration<double> elapsed = ranks.end_of(rank) - begin;
      CHECK(elapsed < tests::limit_of(milliseconds(5000)));
      if (fault.signal != SIGSTOP) seconds_to_notice.push_back(elapsed.count());
    }
    if (fault.signal != SIGUSR1) ranks.send_signal(victim, SIGKILL);  // a stopped one is still there
    const auto end = ranks.outcome(victim);
    CHECK((fault.signal != SIGUSR1 || end.find("does not fit into the shared memory") != std::string::npos));
    CHECK_FALSE(ranks.memory_is_left());
  }
  std::sort(seconds_to_notice.begin(), seconds_to_notice.end());
  const auto in_time = std::count_if(seconds_to_notice.begin(), seconds_to_notice.end(),
                                     [](double seconds) { return seconds < kSecondsToNotice; });
  MESSAGE(num_faults, " faults: noticed after ", seconds_to_notice[seconds_to_notice.size() / 2] * 1e3,
          " ms in the median, ", seconds_to_notice.back() * 1e3, " ms at most; ", in_time, " of ",
          seconds_to_notice.size(), " ranks within 50 ms");
  // A millisecond, unless the machine is busy.
  const std::chrono::duration<double> limit = tests::limit_of(milliseconds(250));
  CHECK(seconds_to_notice[seconds_to_notice.size() / 2] < limit.count());
}
