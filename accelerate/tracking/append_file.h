#pragma once

// Files that grow record by record and stay whole when the process is killed while it writes.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "accelerate/base/descriptor.h"

namespace accelerate::tracking {

/// An open file that records are added to. Each append is one write, so whoever reads sees whole records only. A limit
/// on the size of files (ulimit -f) is an error like any other and does not end the process.
class AppendFile {
 public:
  /// Opens or makes the file, and the directories on the way to it. Throws Error naming the path when that fails.
  explicit AppendFile(std::filesystem::path path);

  /// Adds bytes at the end. Throws Error when not all of them could be written; the file is then as before.
  void append(std::string_view bytes);

  uint64_t bytes() const;

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
};

/// Drops what follows the last line end: the rest of a line whose writer was killed. Returns the lines that are left,
/// none when there is no such file.
std::string drop_torn_line(const std::filesystem::path& path);

}  // namespace accelerate::tracking
