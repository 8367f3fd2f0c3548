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

/// Waits at most `patience` for ranks that have been told to stop, then kills the rest, including processes that ended
/// ranks have left behind. Returns the signal by which the user cut the wait short, or 0.
int see_off(std::vector<Rank>& ranks, process::SignalWatch& signals, milliseconds patience) {
  int request = 0;
  auto until = Clock::now() + patience;
  while (!all_ended(ranks) && Clock::now() < until && request == 0) {
    int number = signals.wait(time_until(until));
    if (process::asks_to_stop(number)) request = number;
  }
  send_signal(ranks, SIGKILL);
  while (!all_ended(ranks)) signals.wait(milliseconds(1000));
  return request;
}

Verdict stopped(int number) { return {.exit_code = 128 + number, .stopped_by = number}; }

Elsewhere state_of(const LookElsewhere& look_elsewhere) {
  return look_elsewhere ? look_elsewhere() : Elsewhere::Running;
}

std::chrono::system_clock::time_point system_time(process::Evidence::Time time) {
  return std::chrono::time_point_cast<std::chrono::system_clock::duration>(
      process::Evidence::Time::clock::to_sys(time));
}

/// Whether waiting after a failure may reveal the root cause. A key on the terminal can end a rank before the launcher
/// gets the signal.
bool may_tell_more(const std::vector<Rank>& ranks) {
  return !all_ended(ranks) || std::any_of(ranks.begin(), ranks.end(), hears_terminal);
}

/// After the first failure, records further failures until the root cause is clear. Returns the signal by which the
/// user cut the wait short, or 0.
int settle(const std::vector<Rank>& ranks, FailureLog& log, process::SignalWatch& signals, const Patience& patience,
           const LookElsewhere& look_elsewhere) {
  log.look();
  auto until = Clock::now() + kSettling;
  auto until_last = Clock::now() + patience.with_lost_peer;
  auto cause_may_come = [&] {
    return log.only_victims() && !all_ended(ranks) && Clock::now() < until_last &&
           state_of(look_elsewhere) != Elsewhere::Failed;
  };
  while (may_tell_more(ranks) && (Clock::now() < until || cause_may_come())) {
    int number = signals.wait(milliseconds(10));
    if (process::asks_to_stop(number)) return number;
    log.look();
  }
  return 0;
}

}  // namespace

Verdict supervise(std::vector<Rank>& ranks, process::SignalWatch& signals, const Patience& patience,
                  const LookElsewhere& look_elsewhere) {
  FailureLog log(ranks);
  std::optional<Clock::time_point> until_cause;  // the peer lost on another machine may be a rank of this one
  while (!all_ended(ranks) && !any_failed(ranks)) {
    int number = signals.wait(look_elsewhere ? kLooking : milliseconds(1000));
    if (number != 0) pass_on(ranks, number, signals);
    if (process::asks_to_stop(number)) {
      see_off(ranks, signals, patience.on_request);
      return stopped(number);
    }
    auto elsewhere = state_of(look_elsewhere);
    if (elsewhere == Elsewhere::Running || any_failed(ranks)) continue;
    if (!until_cause) until_cause = Clock::now() + patience.with_lost_peer;
    if (elsewhere == Elsewhere::LostPeer && Clock::now() < *until_cause) continue;
    send_signal(ranks, SIGTERM);
    int request = see_off(ranks, signals, patience.with_peers);
    return request != 0 ? stopped(request) : Verdict{.failed_elsewhere = true};
  }
  if (!any_failed(ranks)) return {};

  int request = settle(ranks, log, signals, patience, look_elsewhere);
  auto cause = log.root_cause();
  const auto& failed = ranks[cause.index];
  Verdict verdict{.exit_code = process::exit_code_of(*failed.child->wait_status()),
                  .failed = cause.index,
                  .others_stopped = !all_ended(ranks),
                  .lost_peer = is_victim(cause.evidence),
                  .failed_at = system_time(begin_of(cause.evidence))};
  bool by_key = request != 0 && signals.from_terminal() && hears_terminal(failed);
  send_signal(ranks, SIGTERM);
  int later_request = see_off(ranks, signals, patience.with_peers);
  if (by_key) return stopped(request);
  verdict.stopped_by = request != 0 ? request : later_request;
  return verdict;
}

}  // namespace accelerate::launch
