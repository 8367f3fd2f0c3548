#include "accelerate/ranks/fork_ranks.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>

#include <ATen/Parallel.h>

#include "accelerate/base/cpu.h"
#include "accelerate/base/error.h"
#include "accelerate/base/loopback_port.h"
#include "accelerate/comm/partial_state.h"
#include "accelerate/ranks/rank_process.h"

namespace accelerate::ranks {

namespace {

using Clock = std::chrono::steady_clock;
using Ranks = std::deque<RankProcess>;

/// How long peers of a failed rank may take to report their own failure, so that the first cause can be told from its
/// effects.
constexpr auto kSettling = std::chrono::milliseconds(100);

/// How often ends of processes are looked for; their messages wake us at once.
constexpr auto kPollInterval = std::chrono::milliseconds(5);

/// Where ranks that have returned wait for the others.
class Gate {
 public:
  Gate() {
    if (pipe2(ends_, O_CLOEXEC) != 0) fail("ranks cannot be started: pipe: ", std::strerror(errno));
  }
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;
  ~Gate() {
    ::close(ends_[0]);
    ::close(ends_[1]);
  }

  int fd() const { return ends_[0]; }

  void open_for(size_t num_ranks) {
    std::string bytes(num_ranks, '.');
    [[maybe_unused]] auto written = ::write(ends_[1], bytes.data(), bytes.size());
  }

 private:
  int ends_[2];
};

int threads_per_rank(int num_processes) {
  if (auto wanted = environment_integer({"OMP_NUM_THREADS"}); wanted && *wanted > 0) return static_cast<int>(*wanted);
  return std::max(1, std::min(physical_cores(), available_cores()) / num_processes);
}

void enter_job(int rank, int num_processes, const LoopbackPort& store, const ForkOptions& options) {
  int threads = threads_per_rank(num_processes);
  for (const auto& variable : rank_environment(rank, num_processes, store.number(), store.fd())) {
    set_environment_variable(variable);
  }
  for (const auto& variable : options.environment) set_environment_variable(variable);
  set_environment_variable({"OMP_NUM_THREADS", std::to_string(threads)});
  if (rank != 0) ::close(store.fd());
  comm::PartialState::reset();  // what the parent found about itself does not hold here
  at::set_num_threads(threads);
}

void wait_for_news(const Ranks& ranks) {
  std::vector<pollfd> fds;
  for (const auto& rank : ranks) {
    if (rank.fd() >= 0) fds.push_back({rank.fd(), POLLIN, 0});
  }
  poll(fds.data(), fds.size(), kPollInterval.count());
}

/// Updates all ranks until `done()` or the time is up; returns whether it was done.
template <class Done>
bool watch(Ranks& ranks, Clock::time_point until, Done done) {
  while (true) {
    for (auto& rank : ranks) rank.update();
    if (done()) return true;
    if (Clock::now() >= until) return false;
    wait_for_news(ranks);
  }
}

void stop(Ranks& ranks, std::chrono::milliseconds grace) {
  auto all_ended = [&] { return std::all_of(ranks.begin(), ranks.end(), [](auto& rank) { return rank.ended(); }); };
  // Rank 0 last: it hosts the store, and the others would complain about losing it.
  std::for_each(ranks.rbegin(), ranks.rend(), [](auto& rank) { rank.send_signal(SIGTERM); });
  if (watch(ranks, Clock::now() + grace, all_ended)) return;
  for (auto& rank : ranks) rank.send_signal(SIGKILL);
  watch(ranks, Clock::time_point::max(), all_ended);
}

std::string running_ranks(const Ranks& ranks) {
  std::string names;
  for (const auto& rank : ranks) {
    if (!rank.returned()) names += (names.empty() ? "" : ", ") + std::to_string(rank.rank());
  }
  return names;
}

/// Stops the others and throws what the first failing rank said.
[[noreturn]] void fail_with_first_failure(Ranks& ranks, const ForkOptions& options) {
  watch(ranks, Clock::now() + kSettling, [&] {
    return std::all_of(ranks.begin(), ranks.end(), [](auto& rank) { return rank.failure() || rank.returned(); });
  });
  auto& first = *std::min_element(ranks.begin(), ranks.end(),
                                  [](const auto& left, const auto& right) { return left.failed_before(right); });
  auto reason = *first.failure();
  stop(ranks, options.grace);
  fail("rank ", first.rank(), " of ", ranks.size(), " failed: ", reason);
}

}  // namespace

std::vector<EnvironmentVariable> rank_environment(int rank, int num_processes, int port, int store_fd) {
  auto size = std::to_string(num_processes);
  auto store = rank == 0 ? std::optional(std::to_string(store_fd)) : std::nullopt;
  return {{"RANK", std::to_string(rank)}, {"LOCAL_RANK", std::to_string(rank)},
          {"WORLD_SIZE", size},           {"LOCAL_WORLD_SIZE", size},
          {"MASTER_ADDR", "127.0.0.1"},   {"MASTER_PORT", std::to_string(port)},
          {"ACCELERATE_STORE_FD", store}, {"ACCELERATE_USE_CPU", "1"},
          {"FORK_LAUNCHED", "1"},         {"TORCHELASTIC_USE_AGENT_STORE", "False"}};
}

std::vector<std::string> fork_ranks(int num_processes, const std::function<std::string(int rank)>& body,
                                    const ForkOptions& options) {
  if (num_processes < 1) fail("num_processes is ", num_processes, "; it has to be at least 1");
  if (comm::PartialState::initialized() && comm::PartialState().use_distributed()) {
    fail("this process is already rank ", comm::PartialState().process_index(), " of ",
         comm::PartialState().num_processes(),
         "; ranks cannot be forked from a rank. Start them before the first Accelerator or PartialState");
  }
  LoopbackPort store;
  store.listen();  // ranks that come before rank 0 wait for it
  Gate gate;
  Ranks ranks;
  for (int rank = 0; rank < num_processes; ++rank) {
    auto live = [&, rank] {
      enter_job(rank, num_processes, store, options);
      return body(rank);
    };
    ranks.emplace_back(rank, live, gate.fd());
  }
  store.close();

  bool failed = false;
  auto until = options.timeout.count() > 0 ? Clock::now() + options.timeout : Clock::time_point::max();
  bool in_time = watch(ranks, until, [&] {
    failed = std::any_of(ranks.begin(), ranks.end(), [](auto& rank) { return rank.failure().has_value(); });
    return failed || std::all_of(ranks.begin(), ranks.end(), [](auto& rank) { return rank.returned(); });
  });
  if (!in_time) {
    auto running = running_ranks(ranks);
    stop(ranks, std::min(options.grace, std::chrono::milliseconds(100)));
    fail("after ", options.timeout.count() / 1000.0, " s these of ", num_processes,
         " ranks were still running: ", running);
  }
  if (failed) fail_with_first_failure(ranks, options);

  gate.open_for(ranks.size());
  watch(ranks, Clock::now() + options.grace,
        [&] { return std::all_of(ranks.begin(), ranks.end(), [](auto& rank) { return rank.ended(); }); });
  std::vector<std::string> results;
  for (const auto& rank : ranks) results.push_back(rank.result());
  return results;
}

}  // namespace accelerate::ranks
