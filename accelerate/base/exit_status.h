#pragma once

// Describes how a child process ended, in words and as an exit code.

#include <string>

namespace accelerate {

/// "SIGSEGV" for 11.
std::string signal_name(int number);

/// Describes a wait status: "ended with exit code 7", "was ended by SIGSEGV (Segmentation fault)".
std::string describe_exit(int wait_status);

/// Converts a wait status as a shell does: the exit code, or 128 + the signal.
int exit_code_of(int wait_status);

}  // namespace accelerate
