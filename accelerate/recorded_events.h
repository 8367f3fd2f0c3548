#pragma once

// What libtorch's profiler has recorded, as the events that tables are made of.

#include <vector>

#include "accelerate/key_averages.h"

namespace torch::autograd::profiler {
struct ProfilerResult;
}

namespace accelerate {

/// The calls of operators on the CPU, and allocations outside of all of them, in the order in which they began.
std::vector<FunctionEvent> function_events(const torch::autograd::profiler::ProfilerResult& result);

}  // namespace accelerate
