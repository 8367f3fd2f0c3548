#pragma once

// How this library receives signals. Programs with threads record them in a handler: count_signal() for the rest of the
// process, SignalRecorder in a scope. The launcher, which blocks signals in all of its threads, waits for them with
// sigtimedwait(2) instead: SignalWatch tells who sent a signal, and wakes up when a child ends.

#include <signal.h>
#include <sys/types.h>

#include <chrono>
#include <cstdint>

namespace accelerate::process {

/// What count_signal() does with a signal that the program handles or ignores.
enum class IfHandled { LeaveAlone, Replace };

/// Installs a handler that counts the signal instead of letting it end the process.
void count_signal(int number, IfHandled if_handled = IfHandled::LeaveAlone);

/// How many of these signals the handler of count_signal() has counted.
int64_t num_signals(int number);

/// Counts the signals by which a scheduler announces that it will preempt the job: SIGTERM and SIGUSR1. The training
/// loop saves its state, not the handler.
void watch_for_preemption();

/// Whether one of these signals has arrived.
bool preemption_noted();

/// While an object lives, SIGINT and SIGTERM are recorded instead of taking their previous effect. Ignored signals stay
/// ignored. There can be several objects, also in several threads: each sees every signal, and the last one restores
/// the handlers from before the first.
class SignalRecorder {
 public:
  SignalRecorder();
  SignalRecorder(const SignalRecorder&) = delete;
  SignalRecorder& operator=(const SignalRecorder&) = delete;
  ~SignalRecorder();

  /// The last signal that has arrived since the previous call, or 0.
  int take();

 private:
  int num_seen_;
};

/// Call it in a forked process. Restores the default effect of the signals that end a process, unless they are ignored
/// as under nohup, and unblocks all signals. The copies of the parent's SignalRecorders no longer count.
void restore_default_signals();

/// Whether the signal asks the job to stop. The other signals of SignalWatch are for the ranks: SIGUSR1, SIGUSR2, and
/// SIGTSTP and SIGCONT, by which a shell suspends and resumes a job.
bool asks_to_stop(int number);

/// During its lifetime, SIGCHLD, requests to stop (SIGINT, SIGTERM, SIGHUP, SIGQUIT) and signals for the ranks are
/// blocked and delivered by `wait`. Signals that were ignored before, as under nohup, stay ignored. Only for programs
/// whose other threads block all signals.
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
  void forward(int number, pid_t process) const;

  /// The previous mask, which programs should start with.
  const sigset_t& original_mask() const { return original_mask_; }

 private:
  sigset_t watched_;
  sigset_t original_mask_;
  bool from_terminal_ = false;
  struct sigaction original_child_action_;
};

}  // namespace accelerate::process
