#pragma once

// Signals as a queue to wait on, instead of handlers that interrupt.

#include <signal.h>

#include <chrono>

namespace accelerate::launch {

/// Whether the signal asks a job to stop. The other ones that are watched, SIGUSR1 and SIGUSR2, are for the ranks.
bool asks_to_stop(int number);

/// While it lives, ends of children, requests to stop (SIGINT, SIGTERM, SIGHUP, SIGQUIT) and signals for the ranks are
/// held back for `wait`. Those that were ignored before, as under nohup, stay ignored.
class SignalWatch {
 public:
  SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();

  /// The next signal, or 0 when a child ended or the time is up.
  int wait(std::chrono::milliseconds limit);

  /// The mask from before, for programs to start with.
  const sigset_t& original_mask() const { return original_mask_; }

 private:
  sigset_t watched_;
  sigset_t original_mask_;
  struct sigaction original_child_action_;
};

}  // namespace accelerate::launch
