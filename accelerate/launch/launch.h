#pragma once

// Starts a program as the ranks of a job on this machine and supervises them until they end.

#include "accelerate/launch/job_directory.h"
#include "accelerate/launch/machines/outcome.h"
#include "accelerate/launch/settings/launch_options.h"

namespace accelerate::launch {

/// Starts exactly `options.local_processes()` processes, restarts them after a failure if the options allow it, and
/// returns how the job ended. Ranks write their files to `directory`. The options must have passed `check`. Throws
/// Error before starting anything if the port is in use or the program cannot be run.
Outcome launch(LaunchOptions options, const JobDirectory& directory);

}  // namespace accelerate::launch
