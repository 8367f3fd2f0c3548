#include "accelerate/config/scalar.h"

#include <algorithm>
#include <charconv>
#include <regex>
#include <string_view>

namespace accelerate::config {

namespace {

bool is_one_of(const std::string& text, std::initializer_list<const char*> words) {
  return std::find(words.begin(), words.end(), text) != words.end();
}

/// std::from_chars does not accept a plus sign.
std::string_view without_plus(std::string_view digits) {
  if (digits.starts_with("+")) digits.remove_prefix(1);
  return digits;
}

bool is_plain(const DocumentNode& node) { return node.kind == DocumentNode::Kind::Text && !node.quoted; }

/// Requires a point, as YAML 1.1 does: 1e3 is a text there.
bool is_number(const DocumentNode& node) {
  static const std::regex kPattern(R"([-+]?([0-9]+\.[0-9]*|\.[0-9]+)([eE][-+][0-9]+)?)");
  return is_plain(node) && std::regex_match(node.text, kPattern);
}

double as_number(const DocumentNode& node) {
  auto digits = without_plus(node.text);
  double number = 0;
  if (std::from_chars(digits.data(), digits.data() + digits.size(), number).ec != std::errc()) {
    throw ConfigError("is " + node.text + ", which is too large or too small for a number");
  }
  return number;
}

}  // namespace

DocumentNode plain_text(const std::string& text) { return {.kind = DocumentNode::Kind::Text, .text = text}; }

bool is_null(const DocumentNode& node) {
  return node.kind == DocumentNode::Kind::Null ||
         (is_plain(node) && is_one_of(node.text, {"", "~", "null", "Null", "NULL"}));
}

std::optional<bool> as_flag(const DocumentNode& node) {
  if (!is_plain(node)) return std::nullopt;
  const auto& text = node.text;
  if (is_one_of(text, {"yes", "Yes", "YES", "true", "True", "TRUE", "on", "On", "ON"})) return true;
  if (is_one_of(text, {"no", "No", "NO", "false", "False", "FALSE", "off", "Off", "OFF"})) return false;
  return std::nullopt;
}

std::optional<int64_t> as_integer(const DocumentNode& node) {
  if (!is_plain(node)) return std::nullopt;
  auto digits = without_plus(node.text);
  int64_t number = 0;
  auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
  if (error != std::errc() || end != digits.data() + digits.size()) return std::nullopt;
  return number;
}

Value as_value(const DocumentNode& node) {
  if (is_null(node)) return std::monostate();
  if (auto flag = as_flag(node)) return *flag;
  if (auto integer = as_integer(node)) return *integer;
  if (is_number(node)) return as_number(node);
  if (node.kind == DocumentNode::Kind::Text) return node.text;
  if (node.kind == DocumentNode::Kind::Map)
    throw ConfigError("is a map; a section contains only single values and lists");
  std::vector<std::string> texts;
  for (const auto& item : node.items) {
    if (item.kind != DocumentNode::Kind::Text) throw ConfigError("is a list with elements that are not strings");
    texts.push_back(item.text);
  }
  return texts;
}

bool needs_quotes(const std::string& text) {
  // Other notations that Python would read as a number: 0x1F, 0b1, 1_000, 1:30 (sexagesimal), .inf, a date.
  static const std::regex kNumberLike(R"([-+.]?[0-9][0-9a-fA-Fx_:.+-]*|[-+]?\.(inf|Inf|INF)|\.(nan|NaN|NAN)|[=<])");
  static const std::regex kAddress(R"([0-9]+(\.[0-9]+){2,})");
  auto node = plain_text(text);
  if (is_null(node) || as_flag(node) || as_integer(node) || is_number(node)) return true;
  return std::regex_match(text, kNumberLike) && !std::regex_match(text, kAddress);
}

}  // namespace accelerate::config
