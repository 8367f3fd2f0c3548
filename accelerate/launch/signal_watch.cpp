#include "accelerate/launch/signal_watch.h"

namespace accelerate::launch {

bool asks_to_stop(int number) { return number != 0 && number != SIGUSR1 && number != SIGUSR2; }

SignalWatch::SignalWatch() {
  sigemptyset(&watched_);
  sigaddset(&watched_, SIGCHLD);
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGUSR1, SIGUSR2}) {
    struct sigaction action{};
    sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&watched_, number);
  }
  // Whoever started us may ignore SIGCHLD; then the kernel would throw the exit codes of children away.
  struct sigaction standard{};
  standard.sa_handler = SIG_DFL;
  sigaction(SIGCHLD, &standard, &original_child_action_);
  sigprocmask(SIG_BLOCK, &watched_, &original_mask_);
}

SignalWatch::~SignalWatch() {
  sigaction(SIGCHLD, &original_child_action_, nullptr);
  sigprocmask(SIG_SETMASK, &original_mask_, nullptr);
}

int SignalWatch::wait(std::chrono::milliseconds limit) {
  timespec time{};
  time.tv_sec = limit.count() / 1000;
  time.tv_nsec = limit.count() % 1000 * 1'000'000;
  int number = sigtimedwait(&watched_, nullptr, &time);
  return number > 0 && number != SIGCHLD ? number : 0;
}

}  // namespace accelerate::launch
