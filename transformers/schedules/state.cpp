#include "transformers/schedules/schedule.h"

#include "accelerate/base/error.h"

namespace transformers::schedules {

namespace {

/// Calls `read` with the value of `key`, and adds the key to the message of an Error.
template <class Read>
auto value_of(const ScheduleState& state, std::string_view key, Read&& read) {
  const auto& value = find_state(state, key);
  try {
    return read(value);
  } catch (const accelerate::Error& error) {
    accelerate::fail("the state of the schedule: '", key, "': ", error.what());
  }
}

}  // namespace

ScheduleState list_of(const std::vector<double>& numbers) {
  return ScheduleState::list({numbers.begin(), numbers.end()});
}

void write_state(ScheduleState& state, std::string_view key, ScheduleState value) {
  state.entries().emplace_back(key, std::move(value));
}

void write_state(ScheduleState& state, std::string_view key, const std::vector<double>& numbers) {
  write_state(state, key, list_of(numbers));
}

const ScheduleState& find_state(const ScheduleState& state, std::string_view key) {
  if (const auto* value = state.find(key)) return *value;
  accelerate::fail("the state of the schedule has no '", key, "'; it belongs to another kind of schedule");
}

void read_state(const ScheduleState& state, std::string_view key, bool& target) {
  target = value_of(state, key, [](const ScheduleState& value) { return value.boolean(); });
}

void read_state(const ScheduleState& state, std::string_view key, int64_t& target) {
  target = value_of(state, key, [](const ScheduleState& value) { return value.integer(); });
}

void read_state(const ScheduleState& state, std::string_view key, double& target) {
  target = value_of(state, key, [](const ScheduleState& value) { return value.number(); });
}

void read_state(const ScheduleState& state, std::string_view key, std::string& target) {
  target = value_of(state, key, [](const ScheduleState& value) { return value.text(); });
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
  return value_of(state, key, [](const ScheduleState& value) {
    std::vector<double> numbers;
    for (const auto& item : value.items()) numbers.push_back(item.number());
    return numbers;
  });
}

}  // namespace transformers::schedules
