#include "accelerate/ranks/rank_group.h"

#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <ranges>

#include "accelerate/base/text.h"
#include "accelerate/process/exit_status.h"

namespace accelerate::ranks {

namespace {

/// How long peers of a failed rank may take to report their own failure, so that the root cause can be told from its
/// victims.
constexpr auto kSettling = std::chrono::milliseconds(100);

/// How long a rank that its peers have lost may take to end, so that the error can say how it ended.
constexpr auto kSettlingWithLostPeer = std::chrono::seconds(3);

/// How often to check for ended processes. Messages from ranks wake poll(2) at once.
constexpr auto kPollInterval = std::chrono::milliseconds(5);

}  // namespace

void ExitBarrier::release(size_t num_ranks) {
  std::string bytes(num_ranks, '.');
  [[maybe_unused]] auto written = ::write(pipe_.write_end.get(), bytes.data(), bytes.size());
}

RankGroup::RankGroup(const ForkOptions& options, int world_size) : options_(options), world_size_(world_size) {
  if (options.pass_signals_on) signals_.emplace();
}

void RankGroup::start(int rank, const std::function<std::string()>& body) {
  ranks_.emplace_back(rank, body, exit_barrier_.fd());
}

bool RankGroup::any_failed() const {
  return std::any_of(ranks_.begin(), ranks_.end(), [](auto& rank) { return rank.failure().has_value(); });
}

bool RankGroup::all_returned() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](auto& rank) { return rank.returned(); });
}

bool RankGroup::all_ended() const {
  return std::all_of(ranks_.begin(), ranks_.end(), [](auto& rank) { return rank.ended(); });
}

void RankGroup::wait_for_news() const {
  std::vector<pollfd> fds;
  for (const auto& rank : ranks_) {
    if (rank.fd() >= 0) fds.push_back({rank.fd(), POLLIN, 0});
  }
  poll(fds.data(), fds.size(), kPollInterval.count());
}

/// Updates all ranks until `done()` or the time is up. Returns whether `done()` was true.
template <class Done>
bool RankGroup::watch(Clock::time_point until, Done done) {
  while (true) {
    for (auto& rank : ranks_) rank.update();
    if (done()) return true;
    if (Clock::now() >= until) return false;
    wait_for_news();
  }
}

/// Sends SIGKILL after the grace period, or as soon as another signal arrives.
void RankGroup::stop(int signal_number, std::chrono::milliseconds grace) {
  // Rank 0 last: it hosts the store, and the others would complain about losing it.
  std::for_each(ranks_.rbegin(), ranks_.rend(), [&](auto& rank) { rank.send_signal(signal_number); });
  watch(Clock::now() + grace, [&] { return all_ended() || take_signal() != 0; });
  for (auto& rank : ranks_) rank.send_signal(SIGKILL);
  watch(Clock::time_point::max(), [&] { return all_ended(); });
}

std::string RankGroup::running_ranks() const {
  auto running = std::views::filter([](const auto& rank) { return !rank.returned(); });
  return listed(ranks_ | running | std::views::transform([](const auto& rank) { return rank.rank(); }));
}

const RankProcess& RankGroup::root_cause() const {
  std::vector<const RankProcess*> failed;
  std::vector<process::Failure> failures;
  for (const auto& rank : ranks_) {
    if (!rank.failure()) continue;
    failed.push_back(&rank);
    failures.push_back(rank.evidence());
  }
  return *failed[process::root_cause(failures)];
}

void RankGroup::fail_with_first_failure() {
  int signal_number = 0;
  auto until = Clock::now() + kSettling;
  watch(Clock::now() + kSettlingWithLostPeer, [&] {
    signal_number = take_signal();
    bool cause_may_come =
        std::all_of(ranks_.begin(), ranks_.end(), [](auto& rank) { return !rank.failure() || rank.lost_peer(); });
    return signal_number != 0 || (Clock::now() >= until && !cause_may_come) ||
           std::all_of(ranks_.begin(), ranks_.end(), [](auto& rank) { return rank.failure() || rank.returned(); });
  });
  // Ctrl-C on a terminal reaches the ranks too, perhaps before this process.
  if (signal_number != 0) fail_interrupted(signal_number);
  auto& first = root_cause();
  auto reason = *first.failure();
  stop(SIGTERM, options_.grace);
  throw RankError(first.rank(),
                  "rank " + std::to_string(first.rank()) + " of " + std::to_string(world_size_) + " failed: " + reason);
}

void RankGroup::fail_interrupted(int signal_number) {
  auto running = running_ranks();
  stop(signal_number, options_.grace);
  fail("interrupted by ", process::signal_name(signal_number), "; these of ", world_size_,
       " ranks were stopped: ", running);
}

void RankGroup::fail_too_late() {
  auto running = running_ranks();
  stop(SIGTERM, std::min(options_.grace, std::chrono::milliseconds(100)));
  fail("after ", options_.timeout.count() / 1000.0, " s these of ", world_size_,
       " ranks were still running: ", running);
}

std::vector<std::string> RankGroup::wait() {
  int signal_number = 0;
  auto until = options_.timeout.count() > 0 ? Clock::now() + options_.timeout : Clock::time_point::max();
  bool in_time = watch(until, [&] {
    signal_number = take_signal();
    return signal_number != 0 || any_failed() || all_returned();
  });
  if (!in_time) fail_too_late();
  if (signal_number != 0) fail_interrupted(signal_number);
  if (any_failed()) fail_with_first_failure();

  exit_barrier_.release(ranks_.size());
  watch(Clock::now() + options_.grace, [&] { return all_ended(); });
  std::vector<std::string> results;
  for (const auto& rank : ranks_) results.push_back(rank.result());
  return results;
}

}  // namespace accelerate::ranks
