#pragma once

// Settings of trackers: from the program or the environment, and checks of names that become directories.

#include <algorithm>
#include <filesystem>
#include <string>

#include "accelerate/base/environment.h"

namespace accelerate::tracking {

/// `given` if not empty, otherwise the variable if set and not empty, otherwise `fallback`.
inline std::string setting(const std::string& given, const char* variable, const std::string& fallback = "") {
  if (!given.empty()) return given;
  const auto value = environment_variable(variable);
  return value && !value->empty() ? *value : fallback;
}

/// Whether the path has a component `..`.
inline bool escapes_directory(const std::filesystem::path& path) {
  return std::find(path.begin(), path.end(), "..") != path.end();
}

}  // namespace accelerate::tracking
