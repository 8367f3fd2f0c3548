#pragma once

// File access by system calls. An error names the path, the failed action, the reason and the remedy.

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "accelerate/base/descriptor.h"

namespace accelerate {

/// Throws Error "PATH: cannot be ACTION: reason; remedy" for a system call that failed with `error`.
[[noreturn]] void fail_for_file(const std::filesystem::path& path, std::string_view action, int error = errno);

/// Ignores SIGXFSZ, so that a write beyond the limit on file sizes (ulimit -f) fails with an error instead of ending
/// the process, as Python does. No effect with ACCELERATE_SETUP_SIGXFSZ=0, or if the program has set a handler.
void report_file_size_limit();

/// Appends bytes to a file that is being written, or throws.
using Append = std::function<void(std::string_view bytes)>;

/// An open file, closed on destruction. All members throw Error naming the path.
class File {
 public:
  static File open(const std::filesystem::path& path);
  /// Truncates an existing file. The mode of a new one follows the umask.
  static File create(const std::filesystem::path& path);
  /// Throws if the file exists already.
  static File create_new(const std::filesystem::path& path);
  static File open_directory(const std::filesystem::path& path);

  /// Reads exactly `size` bytes at `position`. Throws if the file ends before.
  void read_at(uint64_t position, char* bytes, size_t size) const;
  /// Reads a range of the file in pieces and passes each to `use`. Pieces fit into the cache, so each byte is fetched
  /// from memory once. A piece is valid until `use` returns.
  void read_pieces(uint64_t position, uint64_t size, const std::function<void(std::string_view piece)>& use) const;
  void append(std::string_view bytes) const;
  /// Returns when the content is on disk (fsync). For a directory: its entries.
  void flush_to_disk() const;

  uint64_t bytes() const;
  int descriptor() const { return descriptor_.get(); }
  const std::filesystem::path& path() const { return path_; }

 private:
  File(const std::filesystem::path& path, int flags, std::string_view action);

  std::filesystem::path path_;
  Descriptor descriptor_;
};

}  // namespace accelerate
