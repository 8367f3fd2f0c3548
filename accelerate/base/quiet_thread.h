#pragma once

// A thread that signals do not reach, so that handlers run where the program expects them.

#include <signal.h>

#include <thread>
#include <utility>

#include "accelerate/base/scope.h"

namespace accelerate {

/// Starts `body` in a new thread in which all signals are blocked.
template <class Body>
std::thread quiet_thread(Body body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // Also where the system has no thread left.
  ScopeExit unblock([&before] { pthread_sigmask(SIG_SETMASK, &before, nullptr); });
  return std::thread(std::move(body));
}

}  // namespace accelerate
