#pragma once

// A function on several connected ranks of this machine, for tests and experiments.

#include <chrono>
#include <functional>

#include "accelerate/comm/group.h"

namespace accelerate::ranks {

struct RunRanksOptions {
  std::chrono::milliseconds timeout = std::chrono::seconds(60);  // for all ranks to return; 0 waits for ever
};

/// Starts `num_processes` real processes, connects them as one job, and calls `body` in each with the group of all.
/// Returns when all have returned. Throws Error naming the first rank that threw, crashed or exited, with its message,
/// or the ranks that still ran when time was up; nothing is left running.
void run_ranks(int num_processes, const std::function<void(comm::Group&)>& body, const RunRanksOptions& options = {});

}  // namespace accelerate::ranks

namespace accelerate {
using ranks::run_ranks;
using ranks::RunRanksOptions;
}  // namespace accelerate
