#pragma once

// The entries of a zip file that are stored as they are, as torch.save does it.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace accelerate::formats {

/// One file in a zip file.
struct ZipEntry {
  uint64_t begin = 0;  // of its bytes, from the start of the zip file
  uint64_t bytes = 0;
  uint32_t crc32 = 0;
};

/// A zip file, opened for reading. Opening it reads the directory and makes sure that every entry lies inside the file
/// and that no two overlap, so that all entries together are never larger than the file.
class ZipReader {
 public:
  /// Fills `destination` with the bytes of the file from `position` on, or throws.
  using ReadAt = std::function<void(uint64_t position, char* destination, size_t bytes)>;

  /// `file_bytes` is the size of the file, `source` its name for messages. Throws Error when it is no zip file, is cut
  /// off, or has entries that are compressed or encrypted.
  ZipReader(ReadAt read_at, uint64_t file_bytes, std::string source);

  /// By their names.
  const std::map<std::string, ZipEntry, std::less<>>& entries() const { return entries_; }

  /// Throws Error when there is none of this name.
  const ZipEntry& at(std::string_view name) const;

  /// The bytes of an entry. Throws Error when they do not have the checksum that was stored with them.
  std::string read(std::string_view name) const;

  /// Throws Error unless `sum` is the checksum that was stored with an entry.
  void check_sum(std::string_view name, uint32_t sum) const;

 private:
  ReadAt read_at_;
  std::string source_;
  std::map<std::string, ZipEntry, std::less<>> entries_;
};

}  // namespace accelerate::formats
