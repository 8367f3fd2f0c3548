#pragma once

// Requests to stop that a caller wants to hear about instead of ending by them.

namespace accelerate::ranks {

/// While one lives, SIGINT and SIGTERM are noted instead of doing what they did. Those that were ignored stay ignored.
/// There can be several, also in several threads: each hears of every signal, and the last one to go puts back what was
/// there before the first.
class HeldSignals {
 public:
  HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals();

  /// The signal that came since the last call, or 0.
  int take();

  /// In a forked process: those that hold signals are the parent's.
  static void forget_those_of_parent();

 private:
  int num_heard_;
};

}  // namespace accelerate::ranks
