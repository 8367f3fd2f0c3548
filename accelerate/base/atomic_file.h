#pragma once

// Files and directories that are created atomically and survive a crash.

#include <filesystem>
#include <optional>
#include <string_view>

#include "accelerate/base/file.h"

namespace accelerate {

/// A temporary name next to `path`, for a file that is renamed to `path` when it is complete. Unique among all
/// processes, including those of other machines that share the directory.
std::filesystem::path unfinished_path(const std::filesystem::path& path);

/// A file that appears under its name completely or not at all: it is written under a temporary name and renamed. An
/// existing file is unchanged until then, and the new file gets its mode. Without commit() the temporary file is
/// removed. Temporary files that a killed process of this machine has left in the directory are removed when the next
/// AtomicFile is created there.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void append(std::string_view bytes) { file_->append(bytes); }

  /// Makes the file durable under its name. Throws Error naming the path; the name then refers to the old or the new
  /// file, never to a part.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::optional<File> file_;
};

/// Writes `content` through an AtomicFile.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Creates the directory and its parents durably. Existing ones are fine.
void make_directories(const std::filesystem::path& path);

/// Flushes the entries of a directory to disk (fsync), so that a file created or renamed in it survives a crash.
void sync_directory(const std::filesystem::path& path);

}  // namespace accelerate
