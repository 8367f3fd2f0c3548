#pragma once

// Signals as a queue to wait on, instead of handlers that interrupt.

#include <signal.h>

#include <chrono>

namespace accelerate::launch {

/// Whether the signal asks a job to stop. The other ones that are watched are for the ranks: SIGUSR1 and SIGUSR2, and
/// SIGTSTP and SIGCONT, with which a shell halts a job and lets it go on.
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

  /// The next signal that asks to stop, or 0 when the time is up. Nothing else shortens the waiting.
  int request_to_stop(std::chrono::milliseconds limit);

  /// Whether a signal that asks to stop has arrived. It stays for `wait`.
  bool stop_is_pending() const;

  /// Whether the last signal came from the terminal, which sends it to every process of the shell's job.
  bool from_terminal() const { return from_terminal_; }

  /// Sends the last signal to a process whose SignalWatch then knows as well where it came from.
  void pass_on(int number, pid_t process) const;

  /// The mask from before, for programs to start with.
  const sigset_t& original_mask() const { return original_mask_; }

 private:
  sigset_t watched_;
  sigset_t original_mask_;
  bool from_terminal_ = false;
  struct sigaction original_child_action_;
};

}  // namespace accelerate::launch
