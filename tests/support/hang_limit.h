#pragma once

// How long tests wait for something that only a hang can prevent.

#include <stdlib.h>

#include <algorithm>
#include <chrono>
#include <thread>

namespace accelerate::tests {

/// `usual` is generous on an idle machine. The result grows with the number of programs that share a core, up to ten
/// times, and is three times as long under a sanitizer. Do not use it for a limit that is itself under test.
inline std::chrono::milliseconds hang_limit(std::chrono::milliseconds usual = std::chrono::minutes(2)) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  constexpr int kSlowdown = 3;
#else
  constexpr int kSlowdown = 1;
#endif
  double load = 0;
  if (getloadavg(&load, 1) != 1) load = 0;
  const double cores = std::max(1u, std::thread::hardware_concurrency());
  const double factor = kSlowdown * std::clamp(1 + load / cores, 1.0, 10.0);
  return std::chrono::duration_cast<std::chrono::milliseconds>(usual * factor);
}

}  // namespace accelerate::tests
