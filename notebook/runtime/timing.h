#pragma once

// Measures the time of a cell, for %%time and %%timeit.

#include <string>
#include <vector>

namespace accelerate::notebook {

/// Calls `cell` in `repeats` runs of `loops` calls each and prints mean and deviation of a call. If `loops` is 0, a run
/// takes about 0.2 seconds.
void time_calls(void (*cell)(), int loops, int repeats);

/// "12.3 us +- 0.2 us per call (7 runs of 1000 calls)", from the seconds of a call in each run.
std::string timing_text(const std::vector<double>& seconds, int loops);

/// "1.23 s", "12.3 ms", "4.56 us" or "78.9 ns".
std::string duration_text(double seconds);

}  // namespace accelerate::notebook
