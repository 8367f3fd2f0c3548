#pragma once

// accelerate test: proves the installation by running a small program under the launcher.

#include <string>
#include <vector>

namespace accelerate::cli {

/// Runs the command; returns 0 when every property holds. Throws UsageError.
int test_command(const std::vector<std::string>& arguments);

}  // namespace accelerate::cli
