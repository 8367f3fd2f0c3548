#pragma once

// Writes zip files in the layout of torch.save: uncompressed entries, aligned to 64 bytes so that a mapped file can be
// used in place. Not libtorch's PyTorchStreamWriter: this room does without libtorch, and checksums run at memory speed
// (crc32.h).

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accelerate/base/file.h"

namespace accelerate::formats {

/// A zip file under construction. Sizes and positions beyond 4 GiB use zip64.
class ZipWriter {
 public:
  explicit ZipWriter(Append append) : append_(std::move(append)) {}

  /// Adds an entry. Names must be unique.
  void add(const std::string& name, std::string_view bytes);

  /// Writes the central directory. Call it last.
  void finish();

 private:
  struct Entry {
    std::string name;
    uint64_t header_position;
    uint64_t bytes;
    uint32_t crc32;
  };

  void append(std::string_view bytes);

  Append append_;
  uint64_t position_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace accelerate::formats
