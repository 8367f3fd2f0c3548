#pragma once

// Suggests the known name that a user meant by an unknown one.

#include <string>
#include <string_view>
#include <vector>

namespace accelerate {

/// The name nearest to `word` if it looks like a typo (edit distance at most two), or an empty string.
std::string nearest_name(std::string_view word, const std::vector<std::string>& names);

}  // namespace accelerate
