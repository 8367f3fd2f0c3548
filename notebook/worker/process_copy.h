#pragma once

// Runs work in a forked copy of this process. Only its result is kept; all other changes are lost with the copy.

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace accelerate::notebook {

/// The interface to the parent inside the copy.
class Copy {
 public:
  explicit Copy(int pipe) : pipe_(pipe) {}

  /// Reports a result to the parent. The last one is used, even if the copy crashes afterwards.
  void note(const std::string& result) const;

  [[noreturn]] void end() const;

 private:
  int pipe_;
};

/// Forks a copy, calls `work` in it and returns the last result that it reported. Returns nullopt if there is none, if
/// the copy takes longer than `limit`, or if it is interrupted. Throws Error if fork fails.
std::optional<std::string> ask_copy(const std::function<void(const Copy&)>& work,
                                    std::optional<std::chrono::milliseconds> limit = std::nullopt);

}  // namespace accelerate::notebook
