#pragma once

// One start of all ranks of this machine, from their first to their last moment.

#include "accelerate/launch/child_environment.h"
#include "accelerate/launch/job_directory.h"
#include "accelerate/launch/launch_options.h"
#include "accelerate/launch/machine_link.h"
#include "accelerate/launch/program.h"
#include "accelerate/launch/signal_watch.h"

namespace accelerate::launch {

/// Throws Error when this machine cannot hold the ranks that the options ask it for, naming the limit.
void check_room(const LaunchOptions& options);

/// Starts the ranks, carries their output, and stays until all have ended; also when `others` say that another machine
/// has failed, where there are others. The message is the summary for the user; it may be retried when a rank failed,
/// and not because it could not start at all. Throws Error when they cannot be started.
Ending run_attempt(const LaunchOptions& options, const Command& command, Machine machine, const JobDirectory& directory,
                   SignalWatch& signals, MachineLink* others);

}  // namespace accelerate::launch
