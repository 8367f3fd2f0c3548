#include "accelerate/base/thread_without_signals.h"

#include <doctest/doctest.h>

#include <stdexcept>

using namespace accelerate;

namespace {

bool is_blocked(int number) {
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  return sigismember(&blocked, number) == 1;
}

/// Work that cannot be handed over to a thread.
struct Immovable {
  Immovable() = default;
  Immovable(const Immovable&) { throw std::runtime_error("stays here"); }
  void operator()() const {}
};

}  // namespace

TEST_CASE("signals are blocked in a quiet thread, and not where it is started") {
  bool blocked = false;
  thread_without_signals([&] { blocked = is_blocked(SIGUSR1); }).join();
  CHECK(blocked);
  CHECK_FALSE(is_blocked(SIGUSR1));
}

TEST_CASE("a thread that cannot be started leaves no signal blocked") {
  CHECK_THROWS_AS(thread_without_signals(Immovable()), std::runtime_error);
  CHECK_FALSE(is_blocked(SIGUSR1));
}
