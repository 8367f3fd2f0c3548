#include "accelerate/ranks/held_signals.h"

#include <atomic>

namespace accelerate::ranks {

namespace {

std::atomic<int> noted = 0;
static_assert(std::atomic<int>::is_always_lock_free);  // a handler writes it

void note(int number) { noted = number; }

}  // namespace

HeldSignals::HeldSignals() {
  noted = 0;
  struct sigaction action{};
  action.sa_handler = note;
  action.sa_flags = SA_RESTART;
  for (size_t i = 0; i < kNumbers.size(); ++i) {
    sigaction(kNumbers[i], nullptr, &previous_[i]);
    if (previous_[i].sa_handler != SIG_IGN) sigaction(kNumbers[i], &action, nullptr);
  }
}

HeldSignals::~HeldSignals() {
  for (size_t i = 0; i < kNumbers.size(); ++i) sigaction(kNumbers[i], &previous_[i], nullptr);
}

int HeldSignals::take() { return noted.exchange(0); }

}  // namespace accelerate::ranks
