#pragma once

// What one call of log() becomes in a file.

#include <cstdint>
#include <optional>

#include "accelerate/tracking/value.h"

namespace accelerate::tracking {

/// The step, if there is one, the time, and the values. One that has the name of either is called `metric/step` or
/// `metric/time`: a record has each name once.
Values record_of(const Values& values, std::optional<int64_t> step);

}  // namespace accelerate::tracking
