#pragma once

// One attempt: starts all ranks of this machine and supervises them until they have ended.

#include "accelerate/launch/job_directory.h"
#include "accelerate/launch/machines/machine_link.h"
#include "accelerate/launch/program/program.h"
#include "accelerate/launch/settings/child_environment.h"
#include "accelerate/launch/settings/launch_options.h"
#include "accelerate/process/signals.h"

namespace accelerate::launch {

/// Throws Error naming the limit if this machine cannot run as many processes as the options ask for.
void check_room(const LaunchOptions& options);

/// Starts the ranks, forwards their output, and returns when all have ended. Stops them if `others` (may be null)
/// reports a failure on another machine. The message of the result is a summary for the user. A retry is allowed if a
/// rank failed after it had started. Throws Error if the ranks cannot be started.
Outcome run_attempt(const LaunchOptions& options, const process::Command& command, Machine machine,
                    const JobDirectory& directory, process::SignalWatch& signals, MachineLink* others);

}  // namespace accelerate::launch
