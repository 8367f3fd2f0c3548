#pragma once

// Runs something when a scope is left, by whichever way.

#include <utility>

namespace accelerate {

/// Calls `action` once when destroyed. `action` must not throw.
template <class Action>
class [[nodiscard]] ScopeExit {
 public:
  explicit ScopeExit(Action action) : action_(std::move(action)) {}
  ScopeExit(const ScopeExit&) = delete;
  ScopeExit& operator=(const ScopeExit&) = delete;
  ~ScopeExit() {
    if (armed_) action_();
  }

  /// Leaves the scope without calling the action.
  void release() { armed_ = false; }

 private:
  Action action_;
  bool armed_ = true;
};

}  // namespace accelerate
