#pragma once

// The record that one call of log() writes to a file.

#include <cstdint>
#include <optional>

#include "accelerate/tracking/value.h"

namespace accelerate::tracking {

/// The step, if given, the time, and the values. A value named step or time becomes `metric/step` or `metric/time`,
/// because names in a record are unique.
Values record_of(const Values& values, std::optional<int64_t> step);

}  // namespace accelerate::tracking
