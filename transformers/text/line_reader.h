#pragma once

// The lines of a text file, with their numbers, so that a mistake in one can be found.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "accelerate/base/error.h"

namespace transformers::text {

/// Reads a file of UTF-8 line by line. A byte order mark at its start is left out.
class LineReader {
 public:
  /// Throws Error when the file cannot be read.
  explicit LineReader(std::filesystem::path path);

  /// Reads the next line without its '\n'; false at the end. Throws Error for broken UTF-8.
  bool next(std::string& line);

  /// The number of the line that was read last; the first is 1.
  int64_t line_number() const { return line_number_; }

  const std::filesystem::path& path() const { return path_; }

  /// Throws Error that begins with the file and the number of a line.
  template <class... Parts>
  [[noreturn]] void fail_at(int64_t line_number, const Parts&... parts) const {
    accelerate::fail(path_.string(), ":", line_number, ": ", parts...);
  }

 private:
  std::filesystem::path path_;
  std::ifstream file_;
  int64_t line_number_ = 0;
};

}  // namespace transformers::text
