#pragma once

// accelerate doctor: looks for what commonly goes wrong on a machine.

#include <string>
#include <vector>

namespace accelerate::cli {

/// Runs the command and returns its exit code. Throws UsageError.
int doctor_command(const std::vector<std::string>& arguments);

}  // namespace accelerate::cli
