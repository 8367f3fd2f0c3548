#include "accelerate/formats/zip/writer.h"

#include <algorithm>

#include "accelerate/base/error.h"
#include "accelerate/formats/crc32.h"
#include "accelerate/formats/zip/layout.h"

namespace accelerate::formats {

namespace {

constexpr uint64_t kAlignment = 64;
constexpr uint16_t kVersion64 = 45;          // first version of the specification with zip64
constexpr uint16_t kNamesAreUtf8 = 1 << 11;  // flag bit

template <class Record>
std::string_view bytes_of(const Record& record) {
  return {reinterpret_cast<const char*>(&record), sizeof(record)};
}

/// The number, or the marker for a zip64 field.
uint32_t narrow(uint64_t number) { return static_cast<uint32_t>(std::min<uint64_t>(number, zip::kMax32)); }

/// The extra field with the numbers that need 64 bits.
std::string zip64_field(std::initializer_list<uint64_t> numbers) {
  std::string content;
  for (uint64_t number : numbers) {
    if (number >= zip::kMax32) content += bytes_of(number);
  }
  if (content.empty()) return "";
  zip::ExtraHeader header{.id = zip::ExtraHeader::kZip64, .bytes = static_cast<uint16_t>(content.size())};
  return std::string(bytes_of(header)) + content;
}

/// An extra field that pads from `position` to a multiple of the alignment.
std::string padding_field(uint64_t position) {
  uint64_t content_bytes = kAlignment - 1 - (position + sizeof(zip::ExtraHeader) + kAlignment - 1) % kAlignment;
  zip::ExtraHeader header{.id = zip::ExtraHeader::kPadding, .bytes = static_cast<uint16_t>(content_bytes)};
  return std::string(bytes_of(header)) + std::string(content_bytes, 'Z');
}

}  // namespace

void ZipWriter::append(std::string_view bytes) {
  append_(bytes);
  position_ += bytes.size();
}

void ZipWriter::add(const std::string& name, std::string_view bytes) {
  if (name.size() > zip::kMax16)
    fail("an entry of a zip file has a name of ", name.size(), " bytes; the limit is 65535");
  Entry entry{.name = name, .header_position = position_, .bytes = bytes.size(), .crc32 = crc32(bytes)};
  auto extra = zip64_field({entry.bytes, entry.bytes});
  zip::LocalHeader header{.version_needed = extra.empty() ? uint16_t{0} : kVersion64,
                          .flags = kNamesAreUtf8,
                          .crc32 = entry.crc32,
                          .compressed_bytes = narrow(entry.bytes),
                          .bytes = narrow(entry.bytes),
                          .name_bytes = static_cast<uint16_t>(name.size())};
  extra += padding_field(position_ + sizeof(header) + name.size() + extra.size());
  header.extra_bytes = static_cast<uint16_t>(extra.size());
  append(bytes_of(header));
  append(name);
  append(extra);
  append(bytes);
  entries_.push_back(std::move(entry));
}

void ZipWriter::finish() {
  const uint64_t directory_position = position_;
  for (const auto& entry : entries_) {
    auto extra = zip64_field({entry.bytes, entry.bytes, entry.header_position});
    append(bytes_of(zip::DirectoryHeader{.version_needed = extra.empty() ? uint16_t{0} : kVersion64,
                                         .flags = kNamesAreUtf8,
                                         .crc32 = entry.crc32,
                                         .compressed_bytes = narrow(entry.bytes),
                                         .bytes = narrow(entry.bytes),
                                         .name_bytes = static_cast<uint16_t>(entry.name.size()),
                                         .extra_bytes = static_cast<uint16_t>(extra.size()),
                                         .header_position = narrow(entry.header_position)}));
    append(entry.name);
    append(extra);
  }
  const uint64_t directory_bytes = position_ - directory_position, end64_position = position_;
  append(bytes_of(zip::DirectoryEnd64{.entries_on_disk = entries_.size(),
                                      .entries = entries_.size(),
                                      .directory_bytes = directory_bytes,
                                      .directory_position = directory_position}));
  append(bytes_of(zip::DirectoryEnd64Locator{.end64_position = end64_position}));
  auto count = static_cast<uint16_t>(std::min<uint64_t>(entries_.size(), zip::kMax16));
  append(bytes_of(zip::DirectoryEnd{.entries_on_disk = count,
                                    .entries = count,
                                    .directory_bytes = narrow(directory_bytes),
                                    .directory_position = narrow(directory_position)}));
}

}  // namespace accelerate::formats
