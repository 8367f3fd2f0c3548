#pragma once

// Which of the known names a user meant by one that is unknown.

#include <string>
#include <string_view>
#include <vector>

namespace accelerate {

/// The name nearest to `word` if it looks like a slip of the finger (at most two letters off), or nothing.
std::string nearest_name(std::string_view word, const std::vector<std::string>& names);

}  // namespace accelerate
