#include "accelerate/tracking/value.h"

#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "accelerate/tracking/value.h"

namespace accelerate::tracking {

namespace {

/// The shortest text that round-trips. It always contains a point, so that it stays a floating-point number: PyYAML
/// reads 1e-05 as a string and 1.0e-05 as a number.
std::string shortest(double number) {
  char buffer[32];
  auto [end, error] = std::to_chars(buffer, buffer + sizeof(buffer), number);
  std::string text(buffer, end);
  if (text.find('.') != std::string::npos) return text;
  auto exponent = text.find('e');
  return text.insert(exponent == std::string::npos ? text.size() : exponent, ".0");
}

std::string json_string(const std::string& text) {
  return nlohmann::json(text).dump(-1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace);
}

void flatten_into(Values& flat, const std::string& prefix, const Values& values) {
  for (const auto& [name, value] : values) {
    if (auto* parts = std::get_if<Values>(&value.content())) {
      flatten_into(flat, prefix + name + "/", *parts);
    } else {
      flat.emplace_back(prefix + name, value);
    }
  }
}

struct JsonText {
  std::string operator()(bool flag) const { return flag ? "true" : "false"; }
  std::string operator()(int64_t number) const { return std::to_string(number); }
  std::string operator()(double number) const {
    if (std::isnan(number)) return "NaN";
    if (std::isinf(number)) return number > 0 ? "Infinity" : "-Infinity";
    return shortest(number);
  }
  std::string operator()(const std::string& text) const { return json_string(text); }
  std::string operator()(const Values& parts) const {
    std::string text = "{";
    for (const auto& [name, value] : parts) {
      if (text.size() > 1) text += ", ";
      text += json_string(name) + ": " + to_json(value);
    }
    return text + "}";
  }
};

struct PlainText : JsonText {
  using JsonText::operator();
  std::string operator()(bool flag) const { return flag ? "True" : "False"; }
  std::string operator()(double number) const {
    if (std::isnan(number)) return "nan";
    if (std::isinf(number)) return number > 0 ? "inf" : "-inf";
    return shortest(number);
  }
  std::string operator()(const std::string& text) const { return text; }
};

}  // namespace

std::optional<double> number_of(const Value& value) {
  if (auto* flag = std::get_if<bool>(&value.content())) return *flag;
  if (auto* number = std::get_if<int64_t>(&value.content())) return static_cast<double>(*number);
  if (auto* number = std::get_if<double>(&value.content())) return *number;
  return std::nullopt;
}

std::string to_json(const Value& value) { return std::visit(JsonText{}, value.content()); }

std::string to_text(const Value& value) { return std::visit(PlainText{}, value.content()); }

Values flatten(const Values& values) {
  Values flat;
  flatten_into(flat, "", values);
  return flat;
}

Values record_of(const Values& values, std::optional<int64_t> step) {
  Values record;
  if (step) record.emplace_back("step", *step);
  record.emplace_back("time", wall_time());
  for (const auto& [name, value] : values) {
    const bool is_taken = name == "time" || (step && name == "step");
    record.emplace_back(is_taken ? "metric/" + name : name, value);
  }
  return record;
}

}  // namespace accelerate::tracking
