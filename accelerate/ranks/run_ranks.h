#pragma once

// Runs a function on several connected ranks of this machine, for tests and experiments.

#include <chrono>
#include <functional>

#include "accelerate/comm/group.h"

namespace accelerate::ranks {

struct RunRanksOptions {
  std::chrono::milliseconds timeout = std::chrono::seconds(60);  // for all ranks to return; 0 waits forever
};

/// Forks `num_processes` processes, connects them as one job, and calls `body` in each with the group of all ranks.
/// Returns when all have returned. Throws Error with the first rank that threw, crashed or exited and its message, or
/// with the ranks that still ran when the time was up. No process outlives the call.
void run_ranks(int num_processes, const std::function<void(comm::Group&)>& body, const RunRanksOptions& options = {});

}  // namespace accelerate::ranks

namespace accelerate {
using ranks::run_ranks;
using ranks::RunRanksOptions;
}  // namespace accelerate
