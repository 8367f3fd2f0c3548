#include "accelerate/base/text.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace accelerate {

namespace {

/// The Levenshtein distance.
size_t edit_distance(std::string_view left, std::string_view right) {
  std::vector<size_t> row(right.size() + 1);
  std::iota(row.begin(), row.end(), 0);
  for (char letter : left) {
    size_t diagonal = row[0]++;
    for (size_t j = 0; j < right.size(); ++j) {
      size_t replaced = diagonal + (letter != right[j]);
      diagonal = row[j + 1];
      row[j + 1] = std::min({row[j] + 1, row[j + 1] + 1, replaced});
    }
  }
  return row.back();
}

}  // namespace

std::string lower_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

std::string upper_case(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::toupper(c); });
  return text;
}

std::string nearest_name(std::string_view word, const std::vector<std::string>& names) {
  auto nearest = std::min_element(names.begin(), names.end(), [&](const auto& left, const auto& right) {
    return edit_distance(word, left) < edit_distance(word, right);
  });
  return nearest != names.end() && edit_distance(word, *nearest) <= 2 ? *nearest : "";
}

}  // namespace accelerate
