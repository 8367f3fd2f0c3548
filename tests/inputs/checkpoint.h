#pragma once

// A directory with the files of a small checkpoint, for the length of a test.

#include <filesystem>
#include <string>

#include <nlohmann/json.hpp>

#include "tests/support/temporary_directory.h"

namespace accelerate::tests {

/// Writes the files that `files` maps to their content.
class Checkpoint : public TemporaryDirectory {
 public:
  explicit Checkpoint(const nlohmann::json& files) {
    for (const auto& [file, content] : files.items()) write(file, content.get<std::string>());
  }

  std::string name() const { return path().string(); }
};

}  // namespace accelerate::tests
