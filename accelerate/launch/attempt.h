#pragma once

// One start of all ranks of this machine, from their first to their last moment.

#include <string>

#include "accelerate/launch/child_environment.h"
#include "accelerate/launch/job_directory.h"
#include "accelerate/launch/launch_options.h"
#include "accelerate/launch/program.h"
#include "accelerate/launch/signal_watch.h"

namespace accelerate::launch {

struct AttemptResult {
  int exit_code = 0;
  std::string message = {};  // the summary for the user; empty when all went well
  bool may_retry = false;    // a rank failed, and not because it could not start at all
};

/// Starts the ranks, carries their output, and stays until all have ended. Throws Error when they cannot be started.
AttemptResult run_attempt(const LaunchOptions& options, const Command& command, Machine machine,
                          const JobDirectory& directory, SignalWatch& signals);

}  // namespace accelerate::launch
