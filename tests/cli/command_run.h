#pragma once

// The command `accelerate` as a user runs it.

#include <algorithm>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/hang_limit.h"
#include "tests/support/program.h"
#include "tests/support/temporary_directory.h"

namespace accelerate::tests {

/// How a program ended, and what it wrote.
struct Result {
  int exit_code = -1;
  std::string output = {};
  std::string errors = {};
};

/// Any command, run to its end.
inline Result run(const std::vector<std::string>& command, const std::vector<EnvironmentVariable>& environment = {},
                  std::chrono::milliseconds limit = hang_limit()) {
  Program program(command, environment);
  int exit_code = program.wait(limit);
  return {exit_code, program.output(), program.errors()};
}

/// `accelerate` with these words, run to its end. A configuration of the user who runs the tests is not seen.
struct Run : Result {
  explicit Run(std::vector<std::string> words, std::vector<EnvironmentVariable> environment = {}) {
    words.insert(words.begin(), ACCELERATE_COMMAND);
    environment.insert(environment.begin(), {"HF_HOME", "/nowhere"});
    Result::operator=(run(words, environment, hang_limit()));
  }
};

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline size_t count_lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace accelerate::tests
