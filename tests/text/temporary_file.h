#pragma once

// A file for the length of a test.

#include <filesystem>
#include <string>

#include "tests/support/temporary_directory.h"

namespace accelerate::tests {

/// A file called `name` with the given content, in a directory of its own.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& content) : path_(directory_.write(name, content)) {}

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& directory() const { return directory_.path(); }

 private:
  TemporaryDirectory directory_;
  std::filesystem::path path_;
};

}  // namespace accelerate::tests
