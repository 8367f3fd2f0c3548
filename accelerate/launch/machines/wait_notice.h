#pragma once

// A rate-limited message that says what a launcher waits for.

#include <chrono>
#include <iostream>
#include <string>

namespace accelerate::launch {

/// Prints after 5 s, then every 30 s.
class WaitNotice {
 public:
  /// Call it in each iteration of the waiting loop. Prints the sentence to standard error when it is due.
  void show(const std::string& sentence) {
    if (Clock::now() < next_) return;
    std::cerr << "accelerate launch: " + sentence + "\n" << std::flush;
    next_ += std::chrono::seconds(30);
  }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(5);
};

}  // namespace accelerate::launch
