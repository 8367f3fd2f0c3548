#pragma once

// Names and numbers in a sentence.

#include <sstream>
#include <string>

namespace accelerate {

/// The elements of a range, as they are printed, with commas between them: "a, b, c".
template <class Range>
std::string listed(const Range& range) {
  std::ostringstream text;
  const char* separator = "";
  for (const auto& element : range) {
    text << separator << element;
    separator = ", ";
  }
  return text.str();
}

}  // namespace accelerate
