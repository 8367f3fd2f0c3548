#pragma once

// Records SIGINT and SIGTERM, so that a caller can react to them instead of being terminated.

namespace accelerate::ranks {

/// While an object lives, SIGINT and SIGTERM are recorded instead of taking their previous effect. Ignored signals stay
/// ignored. There can be several objects, also in several threads: each sees every signal, and the last one restores
/// the handlers from before the first.
class HeldSignals {
 public:
  HeldSignals();
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals();

  /// The last signal that has arrived since the previous call, or 0.
  int take();

  /// Call it in a forked process: its copies of these objects belong to the parent.
  static void forget_those_of_parent();

 private:
  int num_heard_;
};

}  // namespace accelerate::ranks
