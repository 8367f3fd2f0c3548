#pragma once

// Requests to stop that a caller wants to hear about instead of ending by them.

#include <signal.h>

#include <array>

namespace accelerate::ranks {

/// While it lives, SIGINT and SIGTERM are noted instead of doing what they did. Those that were ignored stay ignored.
class HeldSignals {
 public:
  HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals();

  /// The signal that came since the last call, or 0.
  int take();

 private:
  static constexpr std::array kNumbers = {SIGINT, SIGTERM};
  std::array<struct sigaction, kNumbers.size()> previous_;
};

}  // namespace accelerate::ranks
