#include "accelerate/base/preemption.h"

#include <signal.h>

#include <atomic>

namespace accelerate {

namespace {

std::atomic<bool> noted = false;
static_assert(std::atomic<bool>::is_always_lock_free);  // written by a signal handler

}  // namespace

void watch_for_preemption() {
  for (int number : {SIGTERM, SIGUSR1}) {
    struct sigaction action{};
    sigaction(number, nullptr, &action);
    if (action.sa_handler != SIG_DFL) continue;
    action.sa_handler = [](int) { noted = true; };
    action.sa_flags = SA_RESTART;
    sigaction(number, &action, nullptr);
  }
}

bool preemption_noted() { return noted; }

}  // namespace accelerate
