#include "accelerate/shared_memory/signal.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <climits>

namespace accelerate::shared_memory {

namespace {

static_assert(std::atomic<uint32_t>::is_always_lock_free && sizeof(std::atomic<uint32_t>) == sizeof(uint32_t));

long futex(std::atomic<uint32_t>& word, int operation, uint32_t value, const timespec* limit) {
  return syscall(SYS_futex, &word, operation, value, limit, nullptr, 0);
}

}  // namespace

// Both sides write first and read the other's word then, in one order for all: either the sleeper sees the new event or
// the notifier sees the sleeper.
void Signal::notify() {
  events.fetch_add(1);
  if (sleepers.load() > 0) futex(events, FUTEX_WAKE, INT_MAX, nullptr);
}

void sleep_on(Signal& signal, uint32_t seen, Clock::time_point until) {
  auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(until - Clock::now()).count();
  if (left <= 0) return;
  timespec limit{left / 1'000'000'000, left % 1'000'000'000};
  signal.sleepers.fetch_add(1);
  futex(signal.events, FUTEX_WAIT, seen, &limit);
  signal.sleepers.fetch_sub(1);
}

}  // namespace accelerate::shared_memory
