#pragma once

// The command `accelerate` as a user runs it, and files for it to meet.

#include <stdlib.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/program.h"

namespace accelerate::tests {

/// `accelerate` with these words, run to its end. A configuration of the user who runs the tests is not seen.
struct Run {
  explicit Run(std::vector<std::string> words, std::vector<EnvironmentVariable> environment = {}) {
    words.insert(words.begin(), ACCELERATE_COMMAND);
    environment.insert(environment.begin(), {"HF_HOME", "/nowhere"});
    Program program(words, environment);
    exit_code = program.wait(std::chrono::seconds(120));
    output = program.output();
    errors = program.errors();
  }
  int exit_code;
  std::string output;
  std::string errors;
};

/// A directory that goes away with the object.
class Directory {
 public:
  Directory() {
    char pattern[] = "/tmp/command_test_XXXXXX";
    path_ = mkdtemp(pattern);
  }
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() { std::filesystem::remove_all(path_); }

  const std::filesystem::path& path() const { return path_; }

  /// Writes a file and returns its path.
  std::string write(const std::string& name, const std::string& text) const {
    std::filesystem::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }

 private:
  std::filesystem::path path_;
};

inline std::string text_of(const std::filesystem::path& path) {
  std::ifstream file(path);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

inline size_t count_lines(const std::string& text) { return std::count(text.begin(), text.end(), '\n'); }

}  // namespace accelerate::tests
