#pragma once

// accelerate tpu-config: sets up the machines of a TPU pod, which is Python's business.

#include <string>
#include <vector>

namespace accelerate::cli {

/// Runs the command and returns its exit code. Throws UsageError.
int tpu_config_command(const std::vector<std::string>& arguments);

}  // namespace accelerate::cli
