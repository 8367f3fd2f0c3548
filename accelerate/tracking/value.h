#pragma once

// Values that trackers accept, their conversion to text, and the record that one call of log() writes.

#include <chrono>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace accelerate::tracking {

class Value;

/// Names and values, in insertion order.
using Values = std::vector<std::pair<std::string, Value>>;

/// A bool, a number, a text, or a map of values by name.
class Value {
 public:
  using Content = std::variant<bool, int64_t, double, std::string, Values>;

  Value(bool flag) : content_(flag) {}
  template <std::integral T>
    requires(!std::same_as<T, bool>)
  Value(T number) : content_(static_cast<int64_t>(number)) {}
  template <std::floating_point T>
  Value(T number) : content_(static_cast<double>(number)) {}
  Value(std::string text) : content_(std::move(text)) {}
  Value(std::string_view text) : content_(std::string(text)) {}
  Value(const char* text) : content_(std::string(text)) {}
  Value(Values parts) : content_(std::move(parts)) {}
  Value(std::initializer_list<std::pair<std::string, Value>> parts) : content_(Values(parts)) {}

  const Content& content() const { return content_; }
  bool operator==(const Value&) const = default;

 private:
  Content content_;
};

/// The value as a number (true is 1). Nothing for a text or a map.
std::optional<double> number_of(const Value& value);

/// The value as JSON in the form of Python's json module: NaN, Infinity and -Infinity are literals, and numbers
/// round-trip exactly. Without these three literals it is also valid YAML.
std::string to_json(const Value& value);

/// The value as Python's str() prints it: a text without quotes, True, nan.
std::string to_text(const Value& value);

/// Flattens nested maps: {"a": {"b": 1}} becomes {"a/b": 1}.
Values flatten(const Values& values);

/// The step, if given, the time, and the values. A value named step or time becomes `metric/step` or `metric/time`,
/// because names in a record are unique.
Values record_of(const Values& values, std::optional<int64_t> step);

/// Seconds since the Unix epoch.
inline double wall_time() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

}  // namespace accelerate::tracking
