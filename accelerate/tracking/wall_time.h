#pragma once

// The time that trackers write beside a value.

#include <chrono>

namespace accelerate::tracking {

/// Seconds since 1970.
inline double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace accelerate::tracking
