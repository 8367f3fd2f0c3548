#pragma once

// A file for the length of a test.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

namespace accelerate::tests {

/// A file called `name` with the given content, in a directory of its own.
class TemporaryFile {
 public:
  TemporaryFile(const std::string& name, const std::string& content) {
    auto directory = (std::filesystem::temp_directory_path() / "accelerate_test_XXXXXX").string();
    directory_ = mkdtemp(directory.data());
    std::ofstream(path_ = directory_ / name, std::ios::binary) << content;
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() { std::filesystem::remove_all(directory_); }

  const std::filesystem::path& path() const { return path_; }
  const std::filesystem::path& directory() const { return directory_; }

 private:
  std::filesystem::path directory_;
  std::filesystem::path path_;
};

}  // namespace accelerate::tests
