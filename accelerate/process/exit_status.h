#pragma once

// Describes how a child process ended, in words and as an exit code.

#include <string.h>
#include <sys/wait.h>

#include <string>

namespace accelerate::process {

/// "SIGSEGV" for 11.
inline std::string signal_name(int number) {
  const char* abbreviation = sigabbrev_np(number);
  return abbreviation ? std::string("SIG").append(abbreviation) : "signal " + std::to_string(number);
}

/// Describes a wait status: "ended with exit code 7", "was ended by SIGSEGV (Segmentation fault)".
inline std::string describe_exit(int wait_status) {
  if (!WIFSIGNALED(wait_status)) return "ended with exit code " + std::to_string(WEXITSTATUS(wait_status));
  int number = WTERMSIG(wait_status);
  return "was ended by " + signal_name(number) + " (" + strsignal(number) + ")";
}

/// Converts a wait status as a shell does: the exit code, or 128 + the signal.
inline int exit_code_of(int wait_status) {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

}  // namespace accelerate::process
