#pragma once

// How a rank waits for another: it looks for a moment, then sleeps in the kernel until the other one says that
// something has changed.

#include <atomic>
#include <chrono>
#include <cstdint>

namespace accelerate::shared_memory {

using Clock = std::chrono::steady_clock;

/// Lives in shared memory, all zeros at first. Whoever changes something that others wait for calls notify() after it.
struct Signal {
  std::atomic<uint32_t> events = 0;
  std::atomic<uint32_t> sleepers = 0;

  void notify();
};

/// Sleeps until `signal` is notified of an event after number `seen`, or `until`; may return early.
void sleep_on(Signal& signal, uint32_t seen, Clock::time_point until);

/// One rank's way of waiting. It learns how long looking pays: a peer on another core answers within microseconds, but
/// where ranks share cores the one who looks keeps the other from answering.
class Waiter {
 public:
  /// `alone` tells that every rank has a core for itself.
  explicit Waiter(bool alone) : most_looks_(alone ? kMostLooks : kFewLooks), looks_(most_looks_) {}

  /// Returns true when `ready()` does, false when it is later than `until`.
  template <class Ready>
  bool wait(Signal& signal, Clock::time_point until, Ready ready) {
    for (int i = 0; i < looks_; ++i) {
      if (ready()) return found_awake();
      pause();
    }
    found_asleep();
    while (true) {
      uint32_t seen = signal.events.load();
      if (ready()) return true;
      if (Clock::now() >= until) return false;
      sleep_on(signal, seen, until);
    }
  }

 private:
  // A look takes some 20 ns: 40 us at most, less than a sleep and a waking cost; and 2 us.
  static constexpr int kMostLooks = 2000;
  static constexpr int kFewLooks = 100;

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  bool found_awake() {
    looks_ = looks_ + looks_ / 8 < most_looks_ ? looks_ + looks_ / 8 : most_looks_;
    return true;
  }
  void found_asleep() { looks_ = looks_ / 2 > kFewLooks ? looks_ / 2 : kFewLooks; }

  int most_looks_;
  int looks_;
};

}  // namespace accelerate::shared_memory
