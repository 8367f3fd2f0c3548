#pragma once

// The forked ranks of one call: starts, supervises and stops them together.

#include <chrono>
#include <deque>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/base/descriptor.h"
#include "accelerate/process/signals.h"
#include "accelerate/ranks/fork_ranks.h"
#include "accelerate/ranks/rank_process.h"

namespace accelerate::ranks {

/// Blocks ranks that have returned until all have: each reads one byte from a pipe.
class ExitBarrier {
 public:
  int fd() const { return pipe_.read_end.get(); }
  void release(size_t num_ranks);

 private:
  Pipe pipe_ = open_pipe("ranks cannot be started");
};

class RankGroup {
 public:
  /// `world_size` counts the ranks of all machines, for messages.
  RankGroup(const ForkOptions& options, int world_size);

  /// Forks a process that calls `body`.
  void start(int rank, const std::function<std::string()>& body);

  /// Waits until all ranks have returned, lets them exit, and returns their results. Throws as fork_ranks does, after
  /// all ranks have ended.
  std::vector<std::string> wait();

 private:
  using Clock = std::chrono::steady_clock;

  template <class Done>
  bool watch(Clock::time_point until, Done done);
  void wait_for_news() const;
  void stop(int signal_number, std::chrono::milliseconds grace);
  int take_signal() { return signals_ ? signals_->take() : 0; }
  std::string running_ranks() const;
  bool any_failed() const;
  bool all_returned() const;
  bool all_ended() const;
  const RankProcess& root_cause() const;

  [[noreturn]] void fail_with_first_failure();
  [[noreturn]] void fail_interrupted(int signal_number);
  [[noreturn]] void fail_too_late();

  const ForkOptions& options_;
  int world_size_;
  std::optional<process::SignalRecorder> signals_;
  ExitBarrier exit_barrier_;
  std::deque<RankProcess> ranks_;
};

}  // namespace accelerate::ranks
