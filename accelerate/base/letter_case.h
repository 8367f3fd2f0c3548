#pragma once

// Text in capitals, and without.

#include <algorithm>
#include <cctype>
#include <string>

namespace accelerate {

/// The text with small letters. Those beyond ASCII stay.
inline std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

/// The text with capitals. Letters beyond ASCII stay.
inline std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

}  // namespace accelerate
