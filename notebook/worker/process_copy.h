#pragma once

// Work that is done in a copy of this process, for its result alone: whatever else it changes goes away with the copy.

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace accelerate::notebook {

/// The copy, seen from the inside.
class Copy {
 public:
  explicit Copy(int pipe) : pipe_(pipe) {}

  /// The result until now. The last one counts, also when the copy crashes afterwards.
  void note(const std::string& result) const;

  [[noreturn]] void end() const;

 private:
  int pipe_;
};

/// Forks a copy, calls `work` in it and returns the last result that it has noted. Nothing when there is none, the copy
/// takes longer than `limit`, or it is interrupted. Throws Error when there can be no copy.
std::optional<std::string> ask_copy(const std::function<void(const Copy&)>& work,
                                    std::optional<std::chrono::milliseconds> limit = std::nullopt);

}  // namespace accelerate::notebook
