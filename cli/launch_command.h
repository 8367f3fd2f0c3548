#pragma once

// accelerate launch: starts a program as the ranks of a job.

#include <string>
#include <vector>

namespace accelerate::cli {

/// Runs the command; returns its exit code, which is that of the first rank that failed. Throws UsageError.
int launch_command(const std::vector<std::string>& arguments);

}  // namespace accelerate::cli
