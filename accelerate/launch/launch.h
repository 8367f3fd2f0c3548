#pragma once

// Starts a program as the ranks of a job on this machine and stays with them until the end.

#include <string>

#include "accelerate/launch/job_directory.h"
#include "accelerate/launch/launch_options.h"

namespace accelerate::launch {

struct Outcome {
  int exit_code = 0;         // of the rank to blame, or 128 + the signal
  std::string message = {};  // what happened; empty when all went well
};

/// Starts exactly `options.local_processes()` processes, again after a failure if the options allow it, and returns how
/// the job ended. Ranks leave their files in `directory`. The options have passed `check`. Throws Error before anything
/// has started when the port is in use or the program cannot be run.
Outcome launch(LaunchOptions options, const JobDirectory& directory);

}  // namespace accelerate::launch
