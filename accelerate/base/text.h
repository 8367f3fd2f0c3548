#pragma once

// Text for people: letter case, lists in a sentence, and the name that a user meant.

#include <iterator>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace accelerate {

/// The name nearest to `word` if it looks like a typo (edit distance at most two), or an empty string.
std::string nearest_name(std::string_view word, const std::vector<std::string>& names);

/// The text in lowercase. Only ASCII letters change.
std::string lower_case(std::string text);

/// The text in uppercase. Only ASCII letters change.
std::string upper_case(std::string text);

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
