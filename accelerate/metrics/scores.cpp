#include "accelerate/metrics/scores.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"

namespace accelerate::metrics {

namespace {

/// Python's repr() of a float.
std::string shortest(double value) {
  if (std::isnan(value)) return "nan";
  if (std::isinf(value)) return value < 0 ? "-inf" : "inf";
  // Python changes to an exponent below 1e-4 and from 1e16 on.
  const double size = std::abs(value);
  const bool plain = size == 0 || (size >= 1e-4 && size < 1e16);
  char digits[64];
  const auto end = std::to_chars(digits, digits + sizeof(digits), value,
                                 plain ? std::chars_format::fixed : std::chars_format::scientific)
                       .ptr;
  std::string text(digits, end);
  if (plain && text.find('.') == std::string::npos) text += ".0";
  return text;
}

}  // namespace

double Scores::at(std::string_view name) const {
  const auto found = std::ranges::find(scores_, name, &std::pair<std::string, double>::first);
  if (found != scores_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& score : scores_) names.push_back(score.first);
  fail("there is no score '", name, "'; the metric returned ", names.empty() ? "none" : listed(names));
}

bool Scores::contains(std::string_view name) const {
  return std::ranges::find(scores_, name, &std::pair<std::string, double>::first) != scores_.end();
}

std::ostream& operator<<(std::ostream& stream, const Scores& scores) {
  const char* separator = "";
  stream << "{";
  for (const auto& [name, value] : scores) {
    stream << std::exchange(separator, ", ") << "'" << name << "': " << shortest(value);
  }
  return stream << "}";
}

}  // namespace accelerate::metrics
