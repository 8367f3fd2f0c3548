#include "accelerate/launch/signal_watch.h"

#include <algorithm>
#include <array>

namespace accelerate::launch {

namespace {

constexpr std::array kRequests = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr std::array kForRanks = {SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
constexpr int kFromTerminal = 1;  // payload of a forwarded signal

}  // namespace

bool asks_to_stop(int number) { return std::find(kRequests.begin(), kRequests.end(), number) != kRequests.end(); }

SignalWatch::SignalWatch() {
  sigemptyset(&watched_);
  sigaddset(&watched_, SIGCHLD);
  auto watch = [this](int number) {
    struct sigaction action{};
    sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_IGN) sigaddset(&watched_, number);
  };
  std::for_each(kRequests.begin(), kRequests.end(), watch);
  std::for_each(kForRanks.begin(), kForRanks.end(), watch);
  // If the parent process ignores SIGCHLD, this one inherits that, and the kernel would discard the children's exit
  // codes.
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
  siginfo_t info{};
  int number = sigtimedwait(&watched_, &info, &time);
  if (number <= 0 || number == SIGCHLD) return 0;
  bool passed_on = info.si_code == SI_QUEUE;
  from_terminal_ = passed_on ? info.si_value.sival_int == kFromTerminal : info.si_code == SI_KERNEL;
  return number;
}

int SignalWatch::request_to_stop(std::chrono::milliseconds limit) {
  using Clock = std::chrono::steady_clock;
  auto until = Clock::now() + limit;
  while (true) {
    auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now());
    int number = wait(std::max(left, std::chrono::milliseconds(0)));
    if (asks_to_stop(number)) return number;
    if (Clock::now() >= until) return 0;
  }
}

bool SignalWatch::stop_is_pending() const {
  sigset_t pending;
  sigpending(&pending);
  return std::any_of(kRequests.begin(), kRequests.end(), [&](int number) {
    return sigismember(&pending, number) == 1 && sigismember(&watched_, number) == 1;
  });
}

void SignalWatch::pass_on(int number, pid_t process) const {
  sigqueue(process, number, {.sival_int = from_terminal_ ? kFromTerminal : 0});
}

}  // namespace accelerate::launch
