#pragma once

// accelerate notebook: makes the C++ kernel known to Jupyter.

#include <string>
#include <vector>

namespace accelerate::cli {

/// Runs the command. Throws UsageError, and Error when the headers cannot be compiled.
int notebook_command(const std::vector<std::string>& arguments);

}  // namespace accelerate::cli
