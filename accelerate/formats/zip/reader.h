#pragma once

// Reads zip files with stored (uncompressed) entries, as written by torch.save. libtorch's PyTorchStreamReader copies
// each entry and checks its checksum in a second pass. Here the caller reads the bytes of an entry straight to their
// destination, and everything in a hostile file is bounds-checked.

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>

namespace accelerate::formats {

/// One file in a zip file.
struct ZipEntry {
  uint64_t begin = 0;  // of its bytes, relative to the start of the zip file
  uint64_t bytes = 0;
  uint32_t crc32 = 0;
};

/// A zip file open for reading. The constructor reads the central directory and checks that every entry is inside the
/// file and that no two overlap, so all entries together never exceed the file.
class ZipReader {
 public:
  /// Reads bytes of the file at `position` into `destination`, or throws.
  using ReadAt = std::function<void(uint64_t position, char* destination, size_t bytes)>;

  /// `file_bytes` is the size of the file, `source` its name in messages. Throws Error if it is not a zip file, is
  /// truncated, or has compressed or encrypted entries.
  ZipReader(ReadAt read_at, uint64_t file_bytes, std::string source);

  /// Entries by name.
  const std::map<std::string, ZipEntry, std::less<>>& entries() const { return entries_; }

  /// Throws Error if there is no entry with this name.
  const ZipEntry& at(std::string_view name) const;

  /// The bytes of an entry. Throws Error if their checksum does not match.
  std::string read(std::string_view name) const;

  /// Throws Error unless `sum` is the stored checksum of the entry.
  void check_sum(std::string_view name, uint32_t sum) const;

 private:
  ReadAt read_at_;
  std::string source_;
  std::map<std::string, ZipEntry, std::less<>> entries_;
};

}  // namespace accelerate::formats
