#pragma once

// accelerate to-fsdp2: brings a configuration from the first version of FSDP to the second.

#include <string>
#include <vector>

namespace accelerate::cli {

/// Runs the command and returns its exit code. Throws UsageError.
int to_fsdp2_command(const std::vector<std::string>& arguments);

}  // namespace accelerate::cli
