#pragma once

// Files and directories whose names survive a crash.

#include <filesystem>
#include <optional>
#include <string_view>

#include "accelerate/base/file.h"

namespace accelerate {

/// A name beside `path`, for a file that is renamed to it when it is complete. No other process gets the same, nor one
/// of another machine that shares the directory.
std::filesystem::path unfinished_path(const std::filesystem::path& path);

/// A file that is on the disk under its name as a whole, or not at all: it is written beside the name and renamed. One
/// that was there before stays until then, and hands on its mode. Without commit() nothing remains; what a process that
/// was killed has left in the directory goes when the next file is written there.
class AtomicFile {
 public:
  explicit AtomicFile(const std::filesystem::path& path);
  AtomicFile(const AtomicFile&) = delete;
  AtomicFile& operator=(const AtomicFile&) = delete;
  ~AtomicFile();

  void append(std::string_view bytes) { file_->append(bytes); }

  /// Throws Error naming the path; under the name is then the file from before, or the new one, but never a part.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path temporary_;
  std::optional<File> file_;
};

/// An AtomicFile of this content.
void write_file_atomically(const std::filesystem::path& path, std::string_view content);

/// Makes the directory and those on the way to it, so that they are still there after a crash. One that is there
/// already is fine.
void make_directories(const std::filesystem::path& path);

/// Puts the names in a directory on the disk: a file made or renamed in it is found there after a crash.
void sync_directory(const std::filesystem::path& path);

}  // namespace accelerate
