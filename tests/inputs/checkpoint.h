#pragma once

// A directory with the files of a small checkpoint, for the length of a test.

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include <nlohmann/json.hpp>

namespace accelerate::tests {

/// Writes the files that `files` maps to their content.
class Checkpoint {
 public:
  explicit Checkpoint(const nlohmann::json& files) {
    auto name = (std::filesystem::temp_directory_path() / "accelerate_test_XXXXXX").string();
    directory_ = mkdtemp(name.data());
    for (const auto& [file, content] : files.items()) write(file, content.get<std::string>());
  }
  Checkpoint(const Checkpoint&) = delete;
  Checkpoint& operator=(const Checkpoint&) = delete;
  ~Checkpoint() { std::filesystem::remove_all(directory_); }

  void write(const std::string& file, const std::string& content) const {
    std::ofstream(directory_ / file, std::ios::binary) << content;
  }

  std::string name() const { return directory_.string(); }
  const std::filesystem::path& directory() const { return directory_; }

 private:
  std::filesystem::path directory_;
};

}  // namespace accelerate::tests
