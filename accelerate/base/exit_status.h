#pragma once

// How a child process ended, in words and as an exit code.

#include <string>

namespace accelerate {

/// "SIGSEGV" for 11.
std::string signal_name(int number);

/// A status of waitpid in words: "ended with exit code 7", "was ended by SIGSEGV (Segmentation fault)".
std::string describe_exit(int wait_status);

/// A status of waitpid as shells give it: the exit code, or 128 + the signal.
int exit_code_of(int wait_status);

}  // namespace accelerate
