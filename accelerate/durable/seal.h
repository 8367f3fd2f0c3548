#pragma once

// A file that is written becomes one that stays: it is put on the disk, and its size and checksum are taken.

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "accelerate/base/file.h"
#include "accelerate/durable/checksum.h"
#include "accelerate/durable/manifest.h"

namespace accelerate::durable {

/// A new file whose checksum is taken while it is written: its bytes are in the cache then, and need not be read again.
class SealedFile {
 public:
  /// The file `name` below `directory`. Throws Error naming the file, as all members do.
  SealedFile(const std::filesystem::path& directory, const std::string& name);

  void append(std::string_view bytes);

  /// Returns when the file is on the disk. The last that is done with it. With several files, write them all first: the
  /// disk is at work meanwhile.
  FileRecord seal() const;

 private:
  std::string name_;
  File file_;
  Checksum checksum_;
  uint64_t bytes_ = 0;
  uint64_t begun_bytes_ = 0;  // of these the system has begun to write to the disk
};

/// Seals a file that somebody else has written: reads it for its checksum. Throws Error naming the file.
FileRecord seal_file(const std::filesystem::path& directory, const std::string& name);

}  // namespace accelerate::durable
