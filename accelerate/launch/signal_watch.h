#pragma once

// Signals as a queue to wait on, instead of handlers. See sigtimedwait(2).

#include <signal.h>

#include <chrono>

namespace accelerate::launch {

/// Whether the signal asks the job to stop. The other watched signals are for the ranks: SIGUSR1, SIGUSR2, and SIGTSTP
/// and SIGCONT, by which a shell suspends and resumes a job.
bool asks_to_stop(int number);

/// During its lifetime, SIGCHLD, requests to stop (SIGINT, SIGTERM, SIGHUP, SIGQUIT) and signals for the ranks are
/// blocked and delivered by `wait`. Signals that were ignored before, as under nohup, stay ignored.
class SignalWatch {
 public:
  SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;
  ~SignalWatch();

  /// The next signal, or 0 if a child ended or the time is up.
  int wait(std::chrono::milliseconds limit);

  /// The next signal that asks to stop, or 0 if the time is up. Other signals do not end the wait.
  int request_to_stop(std::chrono::milliseconds limit);

  /// Whether a signal that asks to stop is pending. It remains queued for `wait`.
  bool stop_is_pending() const;

  /// Whether the last signal came from the terminal, which signals every process of the shell's job.
  bool from_terminal() const { return from_terminal_; }

  /// Sends the last signal to `process`. The SignalWatch there sees the same from_terminal().
  void pass_on(int number, pid_t process) const;

  /// The previous mask, which programs should start with.
  const sigset_t& original_mask() const { return original_mask_; }

 private:
  sigset_t watched_;
  sigset_t original_mask_;
  bool from_terminal_ = false;
  struct sigaction original_child_action_;
};

}  // namespace accelerate::launch
