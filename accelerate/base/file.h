#pragma once

// A file by way of the system's own calls. An error names the path, what could not be done, why, and the remedy.

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "accelerate/base/descriptor.h"

namespace accelerate {

/// Throws Error "PATH: cannot be ACTION: reason; remedy" for a call that has failed with `error`.
[[noreturn]] void fail_for_file(const std::filesystem::path& path, std::string_view action, int error = errno);

/// From now on a write beyond the limit on file sizes (ulimit -f) fails like any other, as it does in Python, and does
/// not end the process. What the program has chosen to do about SIGXFSZ stays.
void report_file_size_limit();

/// An open file, closed with the object. Everything throws Error naming the path.
class File {
 public:
  static File open(const std::filesystem::path& path);
  /// Empties a file that is there already. The mode of a new one follows the umask.
  static File create(const std::filesystem::path& path);
  /// Throws when there is a file of that name already.
  static File create_new(const std::filesystem::path& path);
  static File open_directory(const std::filesystem::path& path);

  /// Reads exactly `size` bytes from `position` on; the file has to have them.
  void read_at(uint64_t position, char* bytes, size_t size) const;
  /// Gives a part of the file to `use` piece by piece. Pieces fit the cache, so that each byte comes from memory once,
  /// and are gone when `use` returns.
  void read_pieces(uint64_t position, uint64_t size, const std::function<void(std::string_view piece)>& use) const;
  void append(std::string_view bytes) const;
  /// Returns when the content is on the disk; of a directory, the names in it.
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
