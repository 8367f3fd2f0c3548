#include "accelerate/launch/supervisor.h"

#include <sys/wait.h>

#include <algorithm>

#include "accelerate/base/exit_status.h"
#include "accelerate/launch/root_cause.h"

namespace accelerate::launch {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// A rank that crashes takes a while to die, and its peers may complain before; so long we wait for a crash to show.
constexpr auto kSettling = milliseconds(100);

constexpr auto kLooking = milliseconds(100);  // from one look at other machines to the next

bool has_ended(const Rank& rank) { return rank.process->wait_status().has_value(); }
bool has_failed(const Rank& rank) { return rank.process->wait_status().value_or(0) != 0; }

bool all_ended(const std::vector<Rank>& ranks) { return std::all_of(ranks.begin(), ranks.end(), has_ended); }
bool any_failed(const std::vector<Rank>& ranks) { return std::any_of(ranks.begin(), ranks.end(), has_failed); }

milliseconds time_until(Clock::time_point moment) {
  auto left = std::chrono::duration_cast<milliseconds>(moment - Clock::now());
  return std::clamp(left, milliseconds(0), milliseconds(1000));
}

/// To rank 0 last: it hosts the store, and the others would complain about losing it.
void send_signal(std::vector<Rank>& ranks, int number) {
  std::for_each(ranks.rbegin(), ranks.rend(), [number](auto& rank) { rank.process->send_signal(number); });
}

/// Whether the terminal sends its signals to the rank as it does to the launcher.
bool hears_terminal(const Rank& rank) { return rank.process->joined_group(); }

/// The signal that the launcher has just got.
void pass_on(std::vector<Rank>& ranks, int number, const SignalWatch& signals) {
  bool heard = signals.from_terminal() && std::all_of(ranks.begin(), ranks.end(), hears_terminal);
  if (!heard) send_signal(ranks, number);
}

/// Waits at most `patience` for ranks that have been told to stop, and kills what is left: also processes that ended
/// ranks have left behind. Returns the signal with which the user cut that short, or 0.
int see_off(std::vector<Rank>& ranks, SignalWatch& signals, milliseconds patience) {
  int request = 0;
  auto until = Clock::now() + patience;
  while (!all_ended(ranks) && Clock::now() < until && request == 0) {
    int number = signals.wait(time_until(until));
    if (asks_to_stop(number)) request = number;
  }
  send_signal(ranks, SIGKILL);
  while (!all_ended(ranks)) signals.wait(milliseconds(1000));
  return request;
}

Verdict stopped(int number) { return {.exit_code = 128 + number, .stopped_by = number}; }

/// Whether it is worth to wait after a failure. A key of the terminal can end a rank before the launcher hears of it.
bool may_tell_more(const std::vector<Rank>& ranks) {
  return !all_ended(ranks) || std::any_of(ranks.begin(), ranks.end(), hears_terminal);
}

/// Notes which ranks fail and in which order, until it is clear that no more will by themselves.
class FailureLog {
 public:
  explicit FailureLog(const std::vector<Rank>& ranks) : ranks_(ranks), order_(ranks.size(), -1) {}

  void look() {
    for (size_t i = 0; i < ranks_.size(); ++i) {
      if (order_[i] < 0 && has_failed(ranks_[i])) order_[i] = next_++;
    }
  }

  size_t to_blame() const {
    std::vector<Failure> failures;
    std::vector<size_t> indices;
    for (size_t i = 0; i < ranks_.size(); ++i) {
      if (order_[i] < 0) continue;
      Failure failure{*ranks_[i].process->wait_status(), order_[i]};
      std::error_code error;
      auto time = std::filesystem::last_write_time(ranks_[i].error_file, error);
      if (!error) failure.reported = time;
      failures.push_back(failure);
      indices.push_back(i);
    }
    return indices[root_cause(failures)];
  }

 private:
  const std::vector<Rank>& ranks_;
  std::vector<int> order_;
  int next_ = 0;
};

}  // namespace

Verdict supervise(std::vector<Rank>& ranks, SignalWatch& signals, const Patience& patience,
                  const FailedElsewhere& failed_elsewhere) {
  while (!all_ended(ranks) && !any_failed(ranks)) {
    int number = signals.wait(failed_elsewhere ? kLooking : milliseconds(1000));
    if (number != 0) pass_on(ranks, number, signals);
    if (asks_to_stop(number)) {
      see_off(ranks, signals, patience.on_request);
      return stopped(number);
    }
    if (failed_elsewhere && failed_elsewhere() && !any_failed(ranks)) {
      send_signal(ranks, SIGTERM);
      int request = see_off(ranks, signals, patience.with_peers);
      return request != 0 ? stopped(request) : Verdict{.failed_elsewhere = true};
    }
  }
  if (!any_failed(ranks)) return {};

  FailureLog log(ranks);
  log.look();
  int request = 0;
  auto until = Clock::now() + kSettling;
  while (Clock::now() < until && request == 0 && may_tell_more(ranks)) {
    int number = signals.wait(std::min(time_until(until), milliseconds(10)));
    if (asks_to_stop(number)) request = number;
    log.look();
  }
  Verdict verdict{.failed = log.to_blame(), .others_stopped = !all_ended(ranks)};
  const auto& failed = ranks[*verdict.failed];
  verdict.exit_code = exit_code_of(*failed.process->wait_status());
  bool by_key = request != 0 && signals.from_terminal() && hears_terminal(failed);
  send_signal(ranks, SIGTERM);
  int later_request = see_off(ranks, signals, patience.with_peers);
  if (by_key) return stopped(request);
  verdict.stopped_by = request != 0 ? request : later_request;
  return verdict;
}

}  // namespace accelerate::launch
