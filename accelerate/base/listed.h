#pragma once

// Names and numbers in a sentence.

#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

namespace accelerate {

/// The elements of a range, as they are printed, with commas between them: "a, b, c". `before_last` is for a choice:
/// "a, b or c".
template <class Range>
std::string listed(Range&& range, std::string_view before_last = ", ") {
  std::ostringstream text;
  const auto begin = std::begin(range);
  const auto end = std::end(range);
  for (auto element = begin; element != end; ++element) {
    if (element != begin) text << (std::next(element) == end ? before_last : ", ");
    text << *element;
  }
  return text.str();
}

}  // namespace accelerate
