#pragma once

// The state of a schedule, by the keys of Python's state_dict, so that a checkpoint of either side fits the other.

#include <concepts>
#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace transformers::schedules {

class StateValue;

/// Values by the names that Python's schedulers give them.
using ScheduleState = std::map<std::string, StateValue, std::less<>>;

/// One value of a state: None, a flag, a number, a text, or a list or dictionary of values.
class StateValue {
 public:
  using List = std::vector<StateValue>;
  using Variant = std::variant<std::monostate, bool, int64_t, double, std::string, List, ScheduleState>;

  StateValue() = default;
  template <class T>
    requires(!std::same_as<T, StateValue>) && std::constructible_from<Variant, std::in_place_type_t<T>, T>
  StateValue(T value) : value_(std::in_place_type<T>, std::move(value)) {}
  StateValue(const char* text) : value_(std::string(text)) {}
  StateValue(const std::vector<double>& numbers) : value_(List(numbers.begin(), numbers.end())) {}

  const Variant& value() const { return value_; }

  friend bool operator==(const StateValue& a, const StateValue& b) { return a.value_ == b.value_; }

 private:
  Variant value_;
};

/// Reads the value called `key` into `target`; a whole number may stand for a float. Throws Error when it is missing or
/// of another type.
void read_state(const ScheduleState& state, std::string_view key, bool& target);
void read_state(const ScheduleState& state, std::string_view key, int64_t& target);
void read_state(const ScheduleState& state, std::string_view key, double& target);
void read_state(const ScheduleState& state, std::string_view key, std::string& target);
void read_state(const ScheduleState& state, std::string_view key, ScheduleState& target);

/// The same for numbers, of which there have to be as many as `target` has.
void read_state(const ScheduleState& state, std::string_view key, std::vector<double>& target);

/// The list of numbers called `key`, of any length.
std::vector<double> read_numbers(const ScheduleState& state, std::string_view key);

}  // namespace transformers::schedules

namespace transformers {
using schedules::ScheduleState;
}
