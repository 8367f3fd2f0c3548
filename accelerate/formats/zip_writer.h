#pragma once

// Writes zip files as torch.save lays them out: entries stored as they are, each on a multiple of 64 bytes, so that
// they can be used where they lie.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "accelerate/base/append.h"

namespace accelerate::formats {

/// One zip file in the making. Sizes and positions beyond 4 GiB are written in 64 bits.
class ZipWriter {
 public:
  explicit ZipWriter(Append append) : append_(std::move(append)) {}

  /// Adds a file. Names have to differ.
  void add(const std::string& name, std::string_view bytes);

  /// Writes the directory; nothing is to be added afterwards.
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
