#pragma once

// accelerate env: prints a block about this machine to paste into an issue.

#include <string>
#include <vector>

namespace accelerate::cli {

/// Runs the command and returns its exit code. Throws UsageError.
int env_command(const std::vector<std::string>& arguments);

}  // namespace accelerate::cli
