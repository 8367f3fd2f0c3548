#pragma once

// The state of a schedule: a dict with the keys of Python's state_dict, so that a checkpoint of either side fits the
// other.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "accelerate/tensors/torch_file.h"

namespace transformers::schedules {

/// Values by the names that Python's schedulers give them.
using ScheduleState = accelerate::tensors::TorchValue;

/// A list of numbers as a value.
ScheduleState list_of(const std::vector<double>& numbers);

/// Adds a value to the end of the dict.
void write_state(ScheduleState& state, std::string_view key, ScheduleState value);
void write_state(ScheduleState& state, std::string_view key, const std::vector<double>& numbers);

/// Reads the value called `key` into `target`; a whole number may stand for a float. Throws Error when it is missing or
/// of another type.
void read_state(const ScheduleState& state, std::string_view key, bool& target);
void read_state(const ScheduleState& state, std::string_view key, int64_t& target);
void read_state(const ScheduleState& state, std::string_view key, double& target);
void read_state(const ScheduleState& state, std::string_view key, std::string& target);

/// The same for numbers, of which there have to be as many as `target` has.
void read_state(const ScheduleState& state, std::string_view key, std::vector<double>& target);

/// The list of numbers called `key`, of any length.
std::vector<double> read_numbers(const ScheduleState& state, std::string_view key);

/// The value called `key`. Throws Error when there is none.
const ScheduleState& find_state(const ScheduleState& state, std::string_view key);

}  // namespace transformers::schedules

namespace transformers {
using schedules::ScheduleState;
}
