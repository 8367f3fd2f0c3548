#include "accelerate/launch/supervisor.h"

#include <sys/wait.h>

#include <algorithm>

#include "accelerate/base/exit_status.h"

namespace accelerate::launch {

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

/// A rank that crashes takes a while to die, and its peers may complain before; so long we wait for a crash to show.
constexpr auto kSettling = milliseconds(100);

bool has_ended(const Rank& rank) { return rank.process->wait_status().has_value(); }
bool has_failed(const Rank& rank) { return rank.process->wait_status().value_or(0) != 0; }
bool has_crashed(const Rank& rank) { return WIFSIGNALED(rank.process->wait_status().value_or(0)); }

bool all_ended(const std::vector<Rank>& ranks) { return std::all_of(ranks.begin(), ranks.end(), has_ended); }

milliseconds time_until(Clock::time_point moment) {
  auto left = std::chrono::duration_cast<milliseconds>(moment - Clock::now());
  return std::clamp(left, milliseconds(0), milliseconds(1000));
}

/// To rank 0 last: it hosts the store, and the others would complain about losing it.
void send_signal(std::vector<Rank>& ranks, int number) {
  std::for_each(ranks.rbegin(), ranks.rend(), [number](auto& rank) { rank.process->send_signal(number); });
}

/// Sends `number`, waits at most `patience`, and kills what is left: also processes that ended ranks have left behind.
void stop(std::vector<Rank>& ranks, SignalWatch& signals, int number, milliseconds patience) {
  send_signal(ranks, number);
  auto until = Clock::now() + patience;
  while (!all_ended(ranks) && Clock::now() < until) {
    if (signals.wait(time_until(until)) != 0) break;
  }
  send_signal(ranks, SIGKILL);
  while (!all_ended(ranks)) signals.wait(milliseconds(1000));
}

const Rank& first_failure(const std::vector<Rank>& ranks, SignalWatch& signals) {
  auto first = std::find_if(ranks.begin(), ranks.end(), has_failed);
  auto until = Clock::now() + kSettling;
  auto crash = ranks.end();
  while ((crash = std::find_if(ranks.begin(), ranks.end(), has_crashed)) == ranks.end() && !all_ended(ranks) &&
         Clock::now() < until) {
    signals.wait(std::min(time_until(until), milliseconds(10)));
  }
  return crash != ranks.end() ? *crash : *first;
}

}  // namespace

Outcome supervise(std::vector<Rank>& ranks, SignalWatch& signals, const std::string& program,
                  const Patience& patience) {
  while (!all_ended(ranks)) {
    if (std::any_of(ranks.begin(), ranks.end(), has_failed)) break;
    if (int number = signals.wait(milliseconds(1000)); number != 0) {
      stop(ranks, signals, number, patience.on_request);
      return {128 + number, "stopped by " + signal_name(number)};
    }
  }
  if (!std::any_of(ranks.begin(), ranks.end(), has_failed)) return {};

  const auto& failed = first_failure(ranks, signals);
  int status = failed.process->wait_status().value_or(0);
  auto message = "rank " + std::to_string(failed.number) + " (pid " + std::to_string(failed.process->pid()) + ") of " +
                 program + " " + describe_exit(status);
  if (!all_ended(ranks)) message += "; the other ranks were stopped";
  stop(ranks, signals, SIGTERM, patience.with_peers);
  return {exit_code_of(status), message};
}

}  // namespace accelerate::launch
