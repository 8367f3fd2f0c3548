#pragma once

// Converts text to lowercase and uppercase.

#include <algorithm>
#include <cctype>
#include <string>

namespace accelerate {

/// The text in lowercase. Only ASCII letters change.
inline std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// The text in uppercase. Only ASCII letters change.
inline std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

}  // namespace accelerate
