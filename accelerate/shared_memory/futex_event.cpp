#include "accelerate/shared_memory/futex_event.h"

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

// Both sides write their own word before they read the other's, with sequential consistency. So either the waiter sees
// the new event, or the notifier sees the waiter.
void FutexEvent::notify() {
  events.fetch_add(1);
  if (waiters.load() > 0) futex(events, FUTEX_WAKE, INT_MAX, nullptr);
}

void park(FutexEvent& event, uint32_t seen, Clock::time_point deadline) {
  auto left = std::chrono::duration_cast<std::chrono::nanoseconds>(deadline - Clock::now()).count();
  if (left <= 0) return;
  timespec limit{left / 1'000'000'000, left % 1'000'000'000};
  event.waiters.fetch_add(1);
  futex(event.events, FUTEX_WAIT, seen, &limit);
  event.waiters.fetch_sub(1);
}

}  // namespace accelerate::shared_memory
