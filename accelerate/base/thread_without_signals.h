#pragma once

// A thread with all signals blocked, so that handlers run on the threads of the program.

#include <signal.h>

#include <thread>
#include <utility>

#include "accelerate/base/scope.h"

namespace accelerate {

/// Starts `body` in a new thread in which all signals are blocked.
template <class Body>
std::thread thread_without_signals(Body body) {
  sigset_t all, before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);
  // Restored also if std::thread throws.
  ScopeExit unblock([&before] { pthread_sigmask(SIG_SETMASK, &before, nullptr); });
  return std::thread(std::move(body));
}

}  // namespace accelerate
