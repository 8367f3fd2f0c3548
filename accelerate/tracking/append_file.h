#pragma once

// Append-only files that contain whole records even if the process is killed while it writes.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "accelerate/base/descriptor.h"

namespace accelerate::tracking {

/// A file open for appending records. Each append is one write, so readers see only whole records. Exceeding the limit
/// on file sizes (ulimit -f) is an ordinary error and does not end the process.
class AppendFile {
 public:
  /// Opens or creates the file and its parent directories. Throws Error naming the path.
  explicit AppendFile(std::filesystem::path path);

  /// Appends bytes. Throws Error if not all of them could be written; the file is then unchanged.
  void append(std::string_view bytes);

  uint64_t bytes() const;

 private:
  std::filesystem::path path_;
  Descriptor descriptor_;
};

/// Truncates the file after its last newline: the rest is a torn line of a killed writer. Returns the remaining lines,
/// or an empty string if the file does not exist.
std::string drop_torn_line(const std::filesystem::path& path);

}  // namespace accelerate::tracking
