#include "accelerate/ranks/held_signals.h"

#include <signal.h>

#include <array>
#include <atomic>
#include <mutex>

namespace accelerate::ranks {

namespace {

std::atomic<int> last_signal = 0;
std::atomic<int> num_signals = 0;
static_assert(std::atomic<int>::is_always_lock_free);  // a signal handler writes them

void note(int number) {
  last_signal = number;
  ++num_signals;
}

constexpr std::array kHeld = {SIGINT, SIGTERM};

std::mutex holders_mutex;
int num_holders = 0;
std::array<struct sigaction, kHeld.size()> before_holders;

}  // namespace

HeldSignals::HeldSignals() : num_heard_(num_signals) {
  std::lock_guard lock(holders_mutex);
  if (num_holders++ > 0) return;
  struct sigaction action{};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < kHeld.size(); ++i) {
    sigaction(kHeld[i], nullptr, &before_holders[i]);
    if (before_holders[i].sa_handler != SIG_IGN) sigaction(kHeld[i], &action, nullptr);
  }
}

HeldSignals::~HeldSignals() {
  std::lock_guard lock(holders_mutex);
  if (--num_holders > 0) return;
  for (size_t i = 0; i < kHeld.size(); ++i) sigaction(kHeld[i], &before_holders[i], nullptr);
}

int HeldSignals::take() {
  int count = num_signals;
  if (count == num_heard_) return 0;
  num_heard_ = count;
  return last_signal;
}

void HeldSignals::forget_those_of_parent() { num_holders = 0; }

}  // namespace accelerate::ranks
