#pragma once

// The records of a zip file as specified in APPNOTE.TXT. All numbers are little-endian.

#include <bit>
#include <cstdint>

namespace accelerate::formats::zip {

static_assert(std::endian::native == std::endian::little);

constexpr uint32_t kMax32 = 0xffffffff;  // in a 32-bit field: the value is in the zip64 field
constexpr uint16_t kMax16 = 0xffff;

#pragma pack(push, 1)

/// Precedes the bytes of each entry.
struct LocalHeader {
  static constexpr uint32_t kSignature = 0x04034b50;

  uint32_t signature = kSignature;
  uint16_t version_needed = 0;
  uint16_t flags = 0;
  uint16_t method = 0;  // 0: stored, not compressed
  uint16_t time = 0;
  uint16_t date = 0;
  uint32_t crc32 = 0;
  uint32_t compressed_bytes = 0;
  uint32_t bytes = 0;
  uint16_t name_bytes = 0;
  uint16_t extra_bytes = 0;
};
static_assert(sizeof(LocalHeader) == 30);

/// One per entry, in the central directory at the end of the file.
struct DirectoryHeader {
  static constexpr uint32_t kSignature = 0x02014b50;

  uint32_t signature = kSignature;
  uint16_t version_made_by = 0;
  uint16_t version_needed = 0;
  uint16_t flags = 0;
  uint16_t method = 0;
  uint16_t time = 0;
  uint16_t date = 0;
  uint32_t crc32 = 0;
  uint32_t compressed_bytes = 0;
  uint32_t bytes = 0;
  uint16_t name_bytes = 0;
  uint16_t extra_bytes = 0;
  uint16_t comment_bytes = 0;
  uint16_t disk = 0;
  uint16_t internal_attributes = 0;
  uint32_t external_attributes = 0;
  uint32_t header_position = 0;
};
static_assert(sizeof(DirectoryHeader) == 46);

/// The zip64 position of the central directory.
struct DirectoryEnd64 {
  static constexpr uint32_t kSignature = 0x06064b50;

  uint32_t signature = kSignature;
  uint64_t rest_bytes = 44;  // of this record, after this field
  uint16_t version_made_by = 45;
  uint16_t version_needed = 45;
  uint32_t disk = 0;
  uint32_t directory_disk = 0;
  uint64_t entries_on_disk = 0;
  uint64_t entries = 0;
  uint64_t directory_bytes = 0;
  uint64_t directory_position = 0;
};
static_assert(sizeof(DirectoryEnd64) == 56);

/// The position of DirectoryEnd64.
struct DirectoryEnd64Locator {
  static constexpr uint32_t kSignature = 0x07064b50;

  uint32_t signature = kSignature;
  uint32_t disk = 0;
  uint64_t end64_position = 0;
  uint32_t disks = 1;
};
static_assert(sizeof(DirectoryEnd64Locator) == 20);

/// The last record of the file.
struct DirectoryEnd {
  static constexpr uint32_t kSignature = 0x06054b50;

  uint32_t signature = kSignature;
  uint16_t disk = 0;
  uint16_t directory_disk = 0;
  uint16_t entries_on_disk = 0;
  uint16_t entries = 0;
  uint32_t directory_bytes = 0;
  uint32_t directory_position = 0;
  uint16_t comment_bytes = 0;
};
static_assert(sizeof(DirectoryEnd) == 22);

/// Precedes each part of the extra field of a header.
struct ExtraHeader {
  static constexpr uint16_t kZip64 = 0x0001;    // 64-bit sizes and position, for those that are kMax32
  static constexpr uint16_t kPadding = 0x4246;  // torch's padding, which aligns an entry

  uint16_t id = 0;
  uint16_t bytes = 0;
};
static_assert(sizeof(ExtraHeader) == 4);

#pragma pack(pop)

}  // namespace accelerate::formats::zip
