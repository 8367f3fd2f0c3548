#pragma once

// Runs a function on several ranks of this machine: forked processes that find each other through the environment, as
// if a launcher had started them.

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "accelerate/base/environment.h"

namespace accelerate::ranks {

struct ForkOptions {
  std::chrono::milliseconds timeout{0};               // for all ranks to return; 0 waits for ever
  std::chrono::milliseconds grace{3000};              // from asking ranks to stop to killing them
  std::vector<EnvironmentVariable> environment = {};  // for every rank, beside those of the job
};

/// Calls `body(rank)` in `num_processes` forked processes and returns what they returned, in rank order. Safe after
/// this process has computed with libtorch; `body` sees copies of everything here, and what it changes stays in its
/// process.
///
/// When a rank throws, crashes or exits, the others are stopped and Error is thrown, naming the rank and its message.
/// When time is up, Error names the ranks that still ran. No process outlives the call.
std::vector<std::string> fork_ranks(int num_processes, const std::function<std::string(int rank)>& body,
                                    const ForkOptions& options = {});

/// The variables through which a forked rank finds its job.
std::vector<EnvironmentVariable> rank_environment(int rank, int num_processes, int port, int store_fd);

}  // namespace accelerate::ranks
