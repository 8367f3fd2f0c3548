#pragma once

// Formats a list for a sentence.

#include <iterator>
#include <sstream>
#include <string>
#include <string_view>

namespace accelerate {

/// Joins the elements of a range with commas: "a, b, c". `before_last` is for a choice: "a, b or c".
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
