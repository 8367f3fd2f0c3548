#pragma once

// Sealing a file: flush it to disk (fsync) and record its size and checksum.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "accelerate/base/file.h"
#include "accelerate/durable/checksum.h"
#include "accelerate/durable/manifest.h"

namespace accelerate::durable {

/// A new file whose checksum is computed while it is written, which saves reading it again.
class SealedFile {
 public:
  /// Creates `name` below `directory`. All members throw Error naming the file.
  SealedFile(const std::filesystem::path& directory, const std::string& name);

  void append(std::string_view bytes);

  /// Returns when the file is on disk. Call it last. Write several files before sealing the first, so that the disk
  /// works in the background.
  FileRecord seal() const;

 private:
  std::string name_;
  File file_;
  Checksum checksum_;
  uint64_t bytes_ = 0;
  uint64_t begun_bytes_ = 0;  // write-back has been started up to here
};

/// Seals a file that was written by other means: reads it to compute the checksum. Throws Error naming the file.
FileRecord seal_file(const std::filesystem::path& directory, const std::string& name);

}  // namespace accelerate::durable
