#pragma once

// How long something may take, where time is part of the promise.

#include <chrono>
#include <ctime>

namespace accelerate::tests {

/// The limit itself, or ten times that under a sanitizer, which slows programs down about as much.
constexpr std::chrono::milliseconds limit_of(std::chrono::milliseconds limit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 10 * limit;
#else
  return limit;
#endif
}

/// What this thread has computed so far; unlike the time on the wall it does not depend on what else the machine does.
inline std::chrono::nanoseconds cpu_time() {
  timespec now{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return std::chrono::seconds(now.tv_sec) + std::chrono::nanoseconds(now.tv_nsec);
}

}  // namespace accelerate::tests
