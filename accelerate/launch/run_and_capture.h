#pragma once

// Runs small programs that the launcher needs itself.

#include <string>
#include <vector>

namespace accelerate::launch {

struct Captured {
  int exit_code = 127;      // also 127 if the program cannot be started
  std::string output = {};  // what it wrote to standard output
};

/// Runs `words[0]`, found in PATH, and waits for its end. Does not use a shell. Its standard error is discarded if
/// `silent`, otherwise inherited.
Captured run_and_capture(const std::vector<std::string>& words, bool silent = true);

}  // namespace accelerate::launch
