#pragma once

// The timestamp of a logged value.

#include <chrono>

namespace accelerate::tracking {

/// Seconds since the Unix epoch.
inline double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace accelerate::tracking
