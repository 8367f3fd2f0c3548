#include "accelerate/launch/supervisor.h"

#include <sys/wait.h>

#include <algorithm>

#include "accelerate/launch/failure_log.h"
#include "accelerate/process/exit_status.h"

namespace accelerate::launch {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// A crashing rank takes a while to die, and its peers may fail first. Wait this long for the crash to show.
constexpr auto kSettling = milliseconds(100);

constexpr auto kLooking = milliseconds(100);  // interval between checks of other machines

bool has_ended(const Rank& rank) { return rank.child->wait_status().has_value(); }
bool has_failed(const Rank& rank) { return rank.child->wait_status().value_or(0) != 0; }

bool all_ended(const std::vector<Rank>& ranks) { return std::all_of(ranks.begin(), ranks.end(), has_ended); }
bool any_failed(const std::vector<Rank>& ranks) { return std::any_of(ranks.begin(), ranks.end(), has_failed); }

milliseconds time_until(Clock::time_point moment) {
  auto left = std::chrono::duration_cast<milliseconds>(moment - Clock::now());
  return std::clamp(left, milliseconds(0), milliseconds(1000));
}

/// Signals rank 0 last: it hosts the store, and the others would report its loss.
void send_signal(std::vector<Rank>& ranks, int number) {
  std::for_each(ranks.rbegin(), ranks.rend(), [number](auto& rank) { rank.child->send_signal(number); });
}

/// Whether the rank gets the terminal's signals directly, like the launcher.
bool hears_terminal(const Rank& rank) { return rank.child->joined_group(); }

/// Forwards the signal that the launcher has just received.
void pass_on(std::vector<Rank>& ranks, int number, const process::SignalWatch& signals) {
  bool heard = signals.from_terminal() && std::all_of(ranks.begin(), ranks.end(), hears_terminal);
  if (!heard) send_signal(ranks, number);
}

/// Waits at most `timeout` for ranks that have been told to stop, then kills the rest, including processes that ended
/// ranks have left behind. Returns the signal by which the user cut the wait short, or 0.
int wait_then_kill(std::vector<Rank>& ranks, process::SignalWatch& signals, milliseconds timeout) {
  int request = 0;
  auto until = Clock::now() + timeout;
  while (!all_ended(ranks) && Clock::now() < until && request == 0) {
    int number = signals.wait(time_until(until));
    if (process::asks_to_stop(number)) request = number;
  }
  send_signal(ranks, SIGKILL);
  while (!all_ended(ranks)) signals.wait(milliseconds(1000));
  return request;
}

RemoteState state_of(const GetRemoteState& remote_state) {
  return remote_state ? remote_state() : RemoteState::Running;
}

int64_t unix_milliseconds(process::Evidence::Time time) {
  auto since_epoch = process::Evidence::Time::clock::to_sys(time).time_since_epoch();
  return std::chrono::duration_cast<milliseconds>(since_epoch).count();
}

/// Whether waiting after a failure may reveal the root cause. A key on the terminal can end a rank before the launcher
/// gets the signal.
bool may_tell_more(const std::vector<Rank>& ranks) {
  return !all_ended(ranks) || std::any_of(ranks.begin(), ranks.end(), hears_terminal);
}

/// After the first failure, records further failures until the root cause is clear. Returns the signal by which the
/// user cut the wait short, or 0.
int settle(const std::vector<Rank>& ranks, FailureLog& log, process::SignalWatch& signals, const Timeouts& timeouts,
           const GetRemoteState& remote_state) {
  log.look();
  auto until = Clock::now() + kSettling;
  auto until_last = Clock::now() + timeouts.of_lost_peer;
  auto cause_may_come = [&] {
    return log.only_victims() && !all_ended(ranks) && Clock::now() < until_last &&
           state_of(remote_state) != RemoteState::Failed;
  };
  while (may_tell_more(ranks) && (Clock::now() < until || cause_may_come())) {
    int number = signals.wait(milliseconds(10));
    if (process::asks_to_stop(number)) return number;
    log.look();
  }
  return 0;
}

}  // namespace

Outcome supervise(std::vector<Rank>& ranks, process::SignalWatch& signals, const Timeouts& timeouts,
                  const GetRemoteState& remote_state) {
  FailureLog log(ranks);
  std::optional<Clock::time_point> until_cause;  // the peer lost on another machine may be a rank of this one
  while (!all_ended(ranks) && !any_failed(ranks)) {
    int number = signals.wait(remote_state ? kLooking : milliseconds(1000));
    if (number != 0) pass_on(ranks, number, signals);
    if (process::asks_to_stop(number)) {
      wait_then_kill(ranks, signals, timeouts.after_request);
      return stopped_by_signal(number);
    }
    auto remote = state_of(remote_state);
    if (remote == RemoteState::Running || any_failed(ranks)) continue;
    if (!until_cause) until_cause = Clock::now() + timeouts.of_lost_peer;
    if (remote == RemoteState::LostPeer && Clock::now() < *until_cause) continue;
    send_signal(ranks, SIGTERM);
    int request = wait_then_kill(ranks, signals, timeouts.after_failure);
    return request != 0 ? stopped_by_signal(request) : Outcome{};
  }
  if (!any_failed(ranks)) return {};

  int request = settle(ranks, log, signals, timeouts, remote_state);
  auto cause = log.root_cause();
  const auto& failed = ranks[cause.index];
  Outcome outcome{.exit_code = process::exit_code_of(*failed.child->wait_status()),
                  .lost_peer = is_victim(cause.evidence),
                  .unix_milliseconds = unix_milliseconds(begin_of(cause.evidence)),
                  .failed = cause.index,
                  .others_stopped = !all_ended(ranks)};
  bool by_key = request != 0 && signals.from_terminal() && hears_terminal(failed);
  send_signal(ranks, SIGTERM);
  int later_request = wait_then_kill(ranks, signals, timeouts.after_failure);
  if (by_key) return stopped_by_signal(request);
  outcome.stopped_by = request != 0 ? request : later_request;
  return outcome;
}

}  // namespace accelerate::launch
