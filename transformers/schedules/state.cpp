#include "transformers/schedules/state.h"

#include "accelerate/base/error.h"

namespace transformers::schedules {

namespace {

const StateValue& find(const ScheduleState& state, std::string_view key) {
  auto item = state.find(key);
  if (item != state.end()) return item->second;
  accelerate::fail("the state of the schedule has no '", key, "'; it belongs to another kind of schedule");
}

template <class T>
void read_as(const ScheduleState& state, std::string_view key, const char* kind, T& target) {
  const T* value = std::get_if<T>(&find(state, key).value());
  if (!value) accelerate::fail("the state of the schedule: '", key, "' should be ", kind);
  target = *value;
}

double number(const StateValue& value, std::string_view key) {
  if (auto real = std::get_if<double>(&value.value())) return *real;
  if (auto whole = std::get_if<int64_t>(&value.value())) return static_cast<double>(*whole);
  accelerate::fail("the state of the schedule: '", key, "' should be made of numbers");
}

}  // namespace

void read_state(const ScheduleState& state, std::string_view key, bool& target) {
  read_as(state, key, "true or false", target);
}

void read_state(const ScheduleState& state, std::string_view key, int64_t& target) {
  read_as(state, key, "a whole number", target);
}

void read_state(const ScheduleState& state, std::string_view key, double& target) {
  target = number(find(state, key), key);
}

void read_state(const ScheduleState& state, std::string_view key, std::string& target) {
  read_as(state, key, "a text", target);
}

void read_state(const ScheduleState& state, std::string_view key, ScheduleState& target) {
  read_as(state, key, "a dictionary", target);
}

void read_state(const ScheduleState& state, std::string_view key, std::vector<double>& target) {
  auto numbers = read_numbers(state, key);
  if (numbers.size() != target.size()) {
    accelerate::fail("the state of the schedule: '", key, "' has ", numbers.size(), " numbers; this optimizer has ",
                     target.size(), " groups of parameters");
  }
  target = std::move(numbers);
}

std::vector<double> read_numbers(const ScheduleState& state, std::string_view key) {
  StateValue::List list;
  read_as(state, key, "a list", list);
  std::vector<double> numbers;
  for (const auto& value : list) numbers.push_back(number(value, key));
  return numbers;
}

}  // namespace transformers::schedules
