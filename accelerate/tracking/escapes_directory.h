#pragma once

// Checks names that become directories.

#include <algorithm>
#include <filesystem>

namespace accelerate::tracking {

/// Whether the path has a component `..`.
inline bool escapes_directory(const std::filesystem::path& path) {
  return std::find(path.begin(), path.end(), "..") != path.end();
}

}  // namespace accelerate::tracking
