#pragma once

// Names that become directories.

#include <algorithm>
#include <filesystem>

namespace accelerate::tracking {

/// Whether `..` is a part of the path.
inline bool leads_up(const std::filesystem::path& path) {
  return std::find(path.begin(), path.end(), "..") != path.end();
}

}  // namespace accelerate::tracking
