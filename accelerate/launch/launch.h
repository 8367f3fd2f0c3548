#pragma once

// Starts a program as the ranks of a job on this machine and stays with them until the end.

#include "accelerate/launch/launch_options.h"
#include "accelerate/launch/supervisor.h"

namespace accelerate::launch {

/// Starts exactly `options.local_processes()` processes and returns how the job ended. Throws Error before anything has
/// started when the options are wrong, the port is in use or (ProgramError) the program cannot be run.
Outcome launch(const LaunchOptions& options);

/// Number of NVIDIA GPUs whose device files are in `directory`.
int count_gpus(const std::string& directory = "/dev");

}  // namespace accelerate::launch
