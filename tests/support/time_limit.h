#pragma once

// How long something may take, where time is part of the promise.

#include <chrono>

namespace accelerate::tests {

/// The limit itself, or ten times that under a sanitizer, which slows programs down about as much.
constexpr std::chrono::milliseconds limit_of(std::chrono::milliseconds limit) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  return 10 * limit;
#else
  return limit;
#endif
}

}  // namespace accelerate::tests
