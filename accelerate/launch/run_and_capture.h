#pragma once

// Small programs that the launcher runs for itself.

#include <string>
#include <vector>

namespace accelerate::launch {

struct Captured {
  int exit_code = 127;      // 127 too when the program cannot be started
  std::string output = {};  // what it wrote to standard output
};

/// Runs `words[0]`, found in PATH, to its end. No shell is involved. Its standard error is this process's, or nothing
/// when `silent`.
Captured run_and_capture(const std::vector<std::string>& words, bool silent = true);

}  // namespace accelerate::launch
