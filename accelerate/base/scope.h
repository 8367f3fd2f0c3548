#pragma once

// Runs an action at the end of a scope, also after an exception.

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

  /// Cancels the action.
  void release() { armed_ = false; }

 private:
  Action action_;
  bool armed_ = true;
};

}  // namespace accelerate
