#pragma once

// accelerate config: writes the configuration file, by questions or without.

#include <string>
#include <vector>

namespace accelerate::cli {

/// Runs the command and returns its exit code. Throws UsageError.
int config_command(const std::vector<std::string>& arguments);

}  // namespace accelerate::cli
