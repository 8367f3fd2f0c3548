#pragma once

// How a rank waits for another: it spins briefly, then parks on a futex (futex(2)).

#include <atomic>
#include <chrono>
#include <cstdint>

namespace accelerate::shared_memory {

using Clock = std::chrono::steady_clock;

/// An event count in shared memory, all zeros at first. A rank that changes what others wait for calls notify() after
/// the change.
struct FutexEvent {
  std::atomic<uint32_t> events = 0;
  std::atomic<uint32_t> waiters = 0;

  void notify();
};

/// Parks until `event` is notified after event number `seen`, or until `deadline`. May return early.
void park(FutexEvent& event, uint32_t seen, Clock::time_point deadline);

/// Spins, then parks. The number of spins adapts: a peer on another core answers within microseconds, but if ranks
/// share cores, a rank that spins keeps its peer from running.
class SpinWaiter {
 public:
  /// `core_for_each`: no two ranks share a core.
  explicit SpinWaiter(bool core_for_each) : max_spins_(core_for_each ? kMaxSpins : kMinSpins), spins_(max_spins_) {}

  /// Returns true as soon as `ready()` does, or false after `deadline`.
  template <class Ready>
  bool wait(FutexEvent& event, Clock::time_point deadline, Ready ready) {
    for (int i = 0; i < spins_; ++i) {
      if (ready()) return spin_succeeded();
      pause();
    }
    spin_failed();
    while (true) {
      uint32_t seen = event.events.load();
      if (ready()) return true;
      if (Clock::now() >= deadline) return false;
      park(event, seen, deadline);
    }
  }

 private:
  // A spin takes about 20 ns, so these are 40 us, which is less than parking and waking cost, and 2 us.
  static constexpr int kMaxSpins = 2000;
  static constexpr int kMinSpins = 100;

  static void pause() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }

  bool spin_succeeded() {
    spins_ = spins_ + spins_ / 8 < max_spins_ ? spins_ + spins_ / 8 : max_spins_;
    return true;
  }
  void spin_failed() { spins_ = spins_ / 2 > kMinSpins ? spins_ / 2 : kMinSpins; }

  int max_spins_;
  int spins_;
};

}  // namespace accelerate::shared_memory
