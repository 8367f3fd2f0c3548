// Ranks that are killed, stopped or out of memory at any moment of whatever they do.

#include <doctest/doctest.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <random>
#include <span>

#include "accelerate/shared_memory/all_gather_slices.h"
#include "accelerate/shared_memory/collectives.h"
#include "accelerate/shared_memory/local_group.h"
#include "tests/shared_memory/forked_ranks.h"
#include "tests/shared_memory/memory_without_pages.h"
#include "tests/support/time_limit.h"

using namespace accelerate;
using namespace accelerate::shared_memory;
using std::chrono::milliseconds;

namespace {

constexpr size_t kNumbers = 300'000;   // more than a stage holds
constexpr milliseconds kTimeout(500);  // of a group
constexpr milliseconds kExchangeTimeout(10'000);
constexpr std::chrono::duration<double> kTimeToNotice = tests::limit_of(milliseconds(50));

std::vector<std::vector<int>> one_machine(int size) {
  std::vector<int> ranks(size);
  std::iota(ranks.begin(), ranks.end(), 0);
  return {ranks};
}

LocalGroup join(const KeyValueStore& store, int rank, int size, milliseconds exchange_timeout) {
  return LocalGroup(
      exchange_segments(store, one_machine(size), rank, LocalGroup::exchange_options(size, exchange_timeout)),
      kTimeout);
}

/// A connected rank with something to exchange.
struct Rank {
  Rank(const KeyValueStore& store, int rank, int size, milliseconds exchange_timeout)
      : group(join(store, rank, size, exchange_timeout)), peers(group.channel()) {}

  Array copied() { return {reinterpret_cast<std::byte*>(numbers.data()), kNumbers, DataType::Float32}; }
  Array in_heap() { return {group.heap()->at(offset), kNumbers, DataType::Float32}; }
  std::span<std::byte> bytes() { return {copied().data, copied().bytes()}; }

  LocalGroup group;
  PeerMemory peers;
  std::vector<float> numbers = std::vector<float>(kNumbers);
  size_t offset = group.heap()->allocate(kNumbers * sizeof(float));
};

void exchange(Rank& rank) {
  const auto length = static_cast<int64_t>(rank.bytes().size());
  const int64_t each = length / rank.group.channel().size();
  const SlicePlan plan{.tensors = {{.length = length, .shard_length = each}}, .rounds = {{{0, 0, each}}}};
  all_gather_slices(rank.group.channel(), rank.peers, {rank.bytes()}, plan, [](size_t) {});
}

void send_and_receive(Rank& rank) {
  const int other = 1 - rank.group.channel().rank();
  auto& mailbox = rank.group.mailbox();
  mailbox.send(rank.bytes().data(), rank.bytes().size(), other, /*tag=*/0, kTimeout);
  mailbox.receive(rank.bytes().data(), rank.bytes().size(), other, /*tag=*/0, kTimeout);
}

/// What ranks do again and again.
struct Activity {
  std::string name;
  int num_ranks;
  void (*step)(Rank& rank);
  std::string before_stopped = "these ranks did not take part: ";  // what a rank says that waits for one in vain
};

const Activity kActivities[] = {
    {"reduce copies", 3, [](Rank& rank) { all_reduce(rank.group.channel(), rank.copied(), Reduction::Sum); }},
    {"reduce in place", 3,
     [](Rank& rank) { all_reduce(rank.group.channel(), rank.in_heap(), Reduction::Sum, rank.offset); }},
    {"all-gather slices", 3, exchange},
    {"send and receive", 2, send_and_receive, "the other rank did not take part (receive from rank "},
    {"wait for each other", 3, [](Rank& rank) { barrier(rank.group.channel()); }},
};

/// What befalls a rank, what it says itself, and how the others tell of it.
struct Fault {
  std::string name;
  int signal;
  std::string own_words;
  std::string before_rank;
  std::string after_rank;
};

const Fault kFaults[] = {
    {"is killed", SIGKILL, "SIGKILL", "the process of rank ", " has ended"},
    {"wants more than there can be", SIGUSR1, "does not fit into the shared memory", "rank ", " has left the group"},
    {"gets no pages from the kernel", SIGUSR2, "more bytes of shared memory: No space left on device", "rank ",
     " has left the group"},
    {"is stopped", SIGSTOP, "SIGKILL", "", ""},
};

volatile sig_atomic_t wanted = 0;  // the signal that asks for memory

void want_memory(Heap& heap) {
  if (wanted == SIGUSR1) heap.allocate(size_t{1} << 62);
  if (wanted == SIGUSR2) {
    Segment segment(tests::memory_without_pages());
    segment.commit(0, segment.capacity());
  }
}

/// Until it is killed, or until a signal makes it ask for memory that it cannot have.
void act_forever(const Activity& activity, int number, const KeyValueStore& store, milliseconds exchange_timeout) {
  for (int signal : {SIGUSR1, SIGUSR2}) std::signal(signal, [](int which) { wanted = which; });
  Rank rank(store, number, activity.num_ranks, exchange_timeout);
  tests::ForkedRanks::record_memory(number, store);
  while (true) {
    want_memory(*rank.group.heap());
    activity.step(rank);
  }
}

/// Lets the fault befall a rank and checks what all of them say. Returns the seconds after which others knew of it.
std::vector<double> check_fault(const Fault& fault, const Activity& activity, int victim,
                                std::chrono::microseconds at) {
  CAPTURE(fault.name);
  CAPTURE(activity.name);
  CAPTURE(victim);
  tests::ForkedRanks ranks(activity.num_ranks, [&](int rank, const KeyValueStore& store) {
    act_forever(activity, rank, store, kExchangeTimeout);
  });
  ranks.wait_until_connected();
  std::this_thread::sleep_for(at);
  const bool stopped = fault.signal == SIGSTOP;
  const auto& before = stopped ? activity.before_stopped : fault.before_rank;
  const auto words = before + std::to_string(victim) + fault.after_rank;
  const auto begin = std::chrono::steady_clock::now();
  ranks.send_signal(victim, fault.signal);
  std::vector<double> seconds;
  for (int rank = 0; rank < activity.num_ranks; ++rank) {
    if (rank == victim) continue;
    const auto outcome = ranks.outcome(rank);
    CHECK_MESSAGE(outcome.find(words) != std::string::npos, outcome);
    const std::chrono::duration<double> elapsed = ranks.end_of(rank) - begin;
    CHECK(elapsed < tests::limit_of(milliseconds(5000)));
    seconds.push_back(elapsed.count());
  }
  if (stopped) ranks.send_signal(victim, SIGKILL);  // it is still there
  const auto end = ranks.outcome(victim);
  CHECK_MESSAGE(end.find(fault.own_words) != std::string::npos, end);
  CHECK_FALSE(ranks.memory_is_left());
  if (stopped) seconds.clear();  // missed when the time is up; all others at once
  return seconds;
}

bool is_full() { return std::getenv("ACCELERATE_TEST_FULL") != nullptr; }

}  // namespace

TEST_CASE(
    "a rank that is killed, stopped or out of memory at any moment is named by all others, and no memory is left") {
  std::mt19937 random(7);
  std::vector<double> seconds;
  const int count = is_full() ? 200 : 20;
  for (int number = 0; number < count; ++number) {
    const auto& activity = kActivities[random() % std::size(kActivities)];
    const int victim = static_cast<int>(random() % activity.num_ranks);
    const std::chrono::microseconds at(random() % 5000);
    const auto noticed = check_fault(kFaults[number % std::size(kFaults)], activity, victim, at);
    seconds.insert(seconds.end(), noticed.begin(), noticed.end());
  }
  std::sort(seconds.begin(), seconds.end());
  const auto in_time = std::lower_bound(seconds.begin(), seconds.end(), kTimeToNotice.count()) - seconds.begin();
  const auto num_noticed = static_cast<std::ptrdiff_t>(seconds.size());
  MESSAGE(count, " faults: noticed after ", seconds[seconds.size() / 2] * 1e3, " ms in the median, ",
          seconds.back() * 1e3, " ms at most; ", in_time, " of ", num_noticed, " ranks within ",
          kTimeToNotice.count() * 1e3, " ms");
  // A millisecond, unless the machine is busy.
  const std::chrono::duration<double> limit = tests::limit_of(milliseconds(250));
  CHECK(seconds[seconds.size() / 2] < limit.count());
  if (is_full()) CHECK(in_time * 100 >= num_noticed * 99);
}

TEST_CASE("a rank that is killed while the ranks meet ends the others with an error, when their time is up") {
  std::mt19937 random(8);
  const int count = is_full() ? 50 : 5;
  for (int number = 0; number < count; ++number) {
    const int victim = static_cast<int>(random() % 3);
    CAPTURE(victim);
    tests::ForkedRanks ranks(
        3, [](int rank, const KeyValueStore& store) { act_forever(kActivities[0], rank, store, kTimeout); }, kTimeout);
    std::this_thread::sleep_for(std::chrono::microseconds(random() % 10'000));
    const auto begin = std::chrono::steady_clock::now();
    ranks.send_signal(victim, SIGKILL);
    for (int rank = 0; rank < 3; ++rank) {
      const auto outcome = ranks.outcome(rank);
      if (rank == victim) continue;
      INFO(outcome);
      REQUIRE(ranks.store().has("end/" + std::to_string(rank)));  // by an error, not by a signal
      CHECK(ranks.end_of(rank) - begin < tests::limit_of(milliseconds(5000)));
    }
  }
}
