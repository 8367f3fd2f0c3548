#pragma once

// Processes, or threads, that take turns.

#include <filesystem>

#include "accelerate/base/descriptor.h"

namespace accelerate {

/// Whether the open file is the one at that path, and neither removed nor replaced meanwhile.
bool is_at(int descriptor, const std::filesystem::path& path);

/// Waits until nobody else holds the file `path`, which it makes together with its directory, and holds it until the
/// scope ends; the file is removed then. The system lets go of it when the process ends, in whatever way. Where files
/// cannot be made or locked, nobody waits.
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
