#pragma once

// Mutual exclusion between processes or threads by a lock file.

#include <filesystem>

#include "accelerate/base/descriptor.h"

namespace accelerate {

/// Whether the open file is still the one at that path, neither removed nor replaced.
bool is_at(int descriptor, const std::filesystem::path& path);

/// Creates the file `path` and its directory, and holds flock(2) on it until the end of the scope, when the file is
/// removed. Blocks while another holder exists. The kernel releases the lock if the process dies. If files cannot be
/// created or locked, there is no exclusion.
class FileLock {
 public:
  explicit FileLock(std::filesystem::path path);
  FileLock(const FileLock&) = delete;
  FileLock& operator=(const FileLock&) = delete;
  ~FileLock();

 private:
  bool try_once();

  std::filesystem::path path_;
  Descriptor file_;
};

}  // namespace accelerate
