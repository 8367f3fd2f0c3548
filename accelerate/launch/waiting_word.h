#pragma once

// Telling the user what a launcher waits for.

#include <chrono>
#include <string>

namespace accelerate::launch {

/// Speaks after five seconds, and then every thirty.
class WaitingWord {
 public:
  /// To be called again and again. The sentence goes to standard error when it is time for one.
  void say(const std::string& sentence);

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point next_ = Clock::now() + std::chrono::seconds(5);
};

}  // namespace accelerate::launch
