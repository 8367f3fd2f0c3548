#pragma once

// Work that is done in a copy of this process, for its result alone: whatever else it changes goes away with the copy.

#include <chrono>
#include <functional>
#include <optional>
#include <string>

namespace accelerate::notebook {

/// Sends the result and ends the copy.
using Reply = std::function<void(const std::string& result)>;

/// Forks a copy, calls `work` in it and returns what it has replied. Nothing when the copy ends without a reply, as in
/// a crash, takes longer than `limit`, or is interrupted. Throws Error when there can be no copy.
std::optional<std::string> ask_copy(const std::function<void(const Reply&)>& work,
                                    std::optional<std::chrono::milliseconds> limit = std::nullopt);

}  // namespace accelerate::notebook
