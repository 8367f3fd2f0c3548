#include "accelerate/process/signals.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <mutex>

namespace accelerate::process {

namespace {

static_assert(std::atomic<int>::is_always_lock_free && std::atomic<int64_t>::is_always_lock_free);  // for handlers

std::array<std::atomic<int64_t>, NSIG> counts = {};

constexpr std::array kRecorded = {SIGINT, SIGTERM};
std::atomic<int> last_recorded = 0;
std::atomic<int> num_recorded = 0;
std::mutex recorders_mutex;
int num_recorders = 0;
std::array<struct sigaction, kRecorded.size()> before_recorders;

constexpr std::array kRequests = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr std::array kForRanks = {SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};
constexpr int kFromTerminal = 1;  // payload of a forwarded signal

void install(int number, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;
  action.sa_flags = SA_RESTART;
  sigaction(number, &action, nullptr);
}

struct sigaction installed(int number) {
  struct sigaction action{};
  sigaction(number, nullptr, &action);
  return action;
}

}  // namespace

void count_signal(int number, IfHandled if_handled) {
  if (if_handled == IfHandled::LeaveAlone && installed(number).sa_handler != SIG_DFL) return;
  install(number, [](int counted) { ++counts[counted]; });
}

int64_t num_signals(int number) { return counts[number]; }

void watch_for_preemption() {
  count_signal(SIGTERM);
  count_signal(SIGUSR1);
}

bool preemption_noted() { return num_signals(SIGTERM) + num_signals(SIGUSR1) > 0; }

SignalRecorder::SignalRecorder() : num_seen_(num_recorded) {
  std::lock_guard lock(recorders_mutex);
  if (num_recorders++ > 0) return;
  for (size_t i = 0; i < kRecorded.size(); ++i) {
    before_recorders[i] = installed(kRecorded[i]);
    if (before_recorders[i].sa_handler == SIG_IGN) continue;
    install(kRecorded[i], [](int number) {
      last_recorded = number;
      ++num_recorded;
    });
  }
}

SignalRecorder::~SignalRecorder() {
  std::lock_guard lock(recorders_mutex);
  if (--num_recorders > 0) return;
  for (size_t i = 0; i < kRecorded.size(); ++i) sigaction(kRecorded[i], &before_recorders[i], nullptr);
}

int SignalRecorder::take() {
  int count = num_recorded;
  if (count == num_seen_) return 0;
  num_seen_ = count;
  return last_recorded;
}

void restore_default_signals() {
  for (int number : {SIGINT, SIGTERM, SIGHUP, SIGQUIT, SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) {
    if (installed(number).sa_handler != SIG_IGN) signal(number, SIG_DFL);
  }
  sigset_t none;
  sigemptyset(&none);
  sigprocmask(SIG_SETMASK, &none, nullptr);
  num_recorders = 0;
}

bool asks_to_stop(int number) { return std::find(kRequests.begin(), kRequests.end(), number) != kRequests.end(); }

SignalWatch::SignalWatch() {
  sigemptyset(&watched_);
  sigaddset(&watched_, SIGCHLD);
  auto watch = [this](int number) {
    if (installed(number).sa_handler != SIG_IGN) sigaddset(&watched_, number);
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
  bool forwarded = info.si_code == SI_QUEUE;
  from_terminal_ = forwarded ? info.si_value.sival_int == kFromTerminal : info.si_code == SI_KERNEL;
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

void SignalWatch::forward(int number, pid_t process) const {
  sigqueue(process, number, {.sival_int = from_terminal_ ? kFromTerminal : 0});
}

}  // namespace accelerate::process
