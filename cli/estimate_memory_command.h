#pragma once

// accelerate estimate-memory: how much memory a model needs, from its files alone.

#include <string>
#include <vector>

namespace accelerate::cli {

/// Runs the command and returns its exit code. Throws UsageError.
int estimate_memory_command(const std::vector<std::string>& arguments);

}  // namespace accelerate::cli
