#pragma once

// Converts recordings of libtorch's profiler into the events of key_averages.h.

#include <vector>

#include "accelerate/key_averages.h"

namespace torch::autograd::profiler {
struct ProfilerResult;
}

namespace accelerate {

/// Calls of operators on the CPU, and allocations outside of any call, sorted by start time.
std::vector<FunctionEvent> function_events(const torch::autograd::profiler::ProfilerResult& result);

}  // namespace accelerate
