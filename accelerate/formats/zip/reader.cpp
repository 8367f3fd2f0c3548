#include "accelerate/formats/zip/reader.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "accelerate/base/error.h"
#include "accelerate/formats/crc32.h"
#include "accelerate/formats/zip/layout.h"

namespace accelerate::formats {

namespace {

/// Copies a record from the start of `bytes`, which must be long enough.
template <class Record>
Record record_at(std::string_view bytes) {
  Record record;
  std::memcpy(static_cast<void*>(&record), bytes.data(), sizeof(record));
  return record;
}

/// Bounds-checked access to the file.
class BoundedFile {
 public:
  BoundedFile(const ZipReader::ReadAt& read_at, uint64_t file_bytes, const std::string& source)
      : read_at_(read_at), file_bytes_(file_bytes), source_(source) {}

  std::string bytes(uint64_t position, uint64_t size) const {
    if (position > file_bytes_ || size > file_bytes_ - position) {
      refuse("its directory points beyond the end of the file");
    }
    std::string result(size, '\0');
    read_at_(position, result.data(), size);
    return result;
  }

  template <class Record>
  Record record(uint64_t position) const {
    return record_at<Record>(bytes(position, sizeof(Record)));
  }

  uint64_t file_bytes() const { return file_bytes_; }

  template <class... Parts>
  [[noreturn]] void refuse(const Parts&... parts) const {
    fail(source_, ": ", parts..., "; it is damaged or truncated");
  }
  template <class... Parts>
  [[noreturn]] void refuse_kind(const Parts&... parts) const {
    fail(source_, ": ", parts...);
  }

 private:
  const ZipReader::ReadAt& read_at_;
  uint64_t file_bytes_;
  const std::string& source_;
};

struct Directory {
  uint64_t position = 0;
  uint64_t bytes = 0;
  uint64_t entries = 0;
};

/// The position of the end-of-directory record. Only a comment can follow it.
uint64_t find_directory_end(const BoundedFile& file) {
  constexpr uint64_t kMaxTail = sizeof(zip::DirectoryEnd) + zip::kMax16;
  uint64_t tail_bytes = std::min(file.file_bytes(), kMaxTail);
  auto tail = file.bytes(file.file_bytes() - tail_bytes, tail_bytes);
  for (size_t i = tail.size() < sizeof(zip::DirectoryEnd) ? 0 : tail.size() - sizeof(zip::DirectoryEnd) + 1; i-- > 0;) {
    auto end = record_at<zip::DirectoryEnd>(std::string_view(tail).substr(i));
    if (end.signature == zip::DirectoryEnd::kSignature && i + sizeof(end) + end.comment_bytes == tail.size()) {
      return file.file_bytes() - tail_bytes + i;
    }
  }
  file.refuse("the directory at the end of a zip file is missing");
}

Directory find_directory(const BoundedFile& file) {
  uint64_t end_position = find_directory_end(file);
  auto end = file.record<zip::DirectoryEnd>(end_position);
  Directory directory{end.directory_position, end.directory_bytes, end.entries};
  if (end_position >= sizeof(zip::DirectoryEnd64Locator)) {
    auto locator = file.record<zip::DirectoryEnd64Locator>(end_position - sizeof(zip::DirectoryEnd64Locator));
    if (locator.signature == zip::DirectoryEnd64Locator::kSignature) {
      auto end64 = file.record<zip::DirectoryEnd64>(locator.end64_position);
      if (end64.signature != zip::DirectoryEnd64::kSignature) file.refuse("the end of its directory is missing");
      directory = {end64.directory_position, end64.directory_bytes, end64.entries};
    }
  }
  if (directory.position > end_position || directory.bytes > end_position - directory.position) {
    file.refuse("its directory is outside of the file");
  }
  return directory;
}

/// An entry of the directory; the position of its bytes is not known yet.
struct DirectoryEntry {
  std::string name;
  uint64_t header_position;
  ZipEntry entry;
};

/// Replaces values that did not fit into 32 bits.
void read_zip64(const BoundedFile& file, const zip::DirectoryHeader& header, std::string_view extra,
                DirectoryEntry& listed) {
  while (extra.size() >= sizeof(zip::ExtraHeader)) {
    auto piece = record_at<zip::ExtraHeader>(extra);
    extra.remove_prefix(sizeof(piece));
    auto content = extra.substr(0, piece.bytes);
    extra.remove_prefix(content.size());
    if (piece.id != zip::ExtraHeader::kZip64) continue;
    auto take = [&](uint64_t& number) {
      if (content.size() < sizeof(number)) file.refuse("a size in its directory is missing");
      std::memcpy(&number, content.data(), sizeof(number));
      content.remove_prefix(sizeof(number));
    };
    uint64_t compressed_bytes = listed.entry.bytes;
    if (header.bytes == zip::kMax32) take(listed.entry.bytes);
    if (header.compressed_bytes == zip::kMax32) take(compressed_bytes);
    if (compressed_bytes != listed.entry.bytes) file.refuse("an entry has two sizes");
    if (header.header_position == zip::kMax32) take(listed.header_position);
  }
}

/// Parses the first entry of `directory` and removes it.
DirectoryEntry take_entry(const BoundedFile& file, std::string_view& directory) {
  if (directory.size() < sizeof(zip::DirectoryHeader)) file.refuse("its directory ends too early");
  auto header = record_at<zip::DirectoryHeader>(directory);
  directory.remove_prefix(sizeof(header));
  uint64_t rest_bytes = uint64_t{header.name_bytes} + header.extra_bytes + header.comment_bytes;
  if (header.signature != zip::DirectoryHeader::kSignature || rest_bytes > directory.size()) {
    file.refuse("its directory cannot be read");
  }
  DirectoryEntry listed{.name = std::string(directory.substr(0, header.name_bytes)),
                        .header_position = header.header_position,
                        .entry = {.begin = 0, .bytes = header.bytes, .crc32 = header.crc32}};
  constexpr uint16_t kEncrypted = 1;
  if (header.method != 0 || header.flags & kEncrypted || header.compressed_bytes != header.bytes) {
    file.refuse_kind(
        "its entries are compressed or encrypted; torch.save stores them uncompressed. torch::load reads "
        "files of torch.jit.save and libtorch's torch::save");
  }
  read_zip64(file, header, directory.substr(header.name_bytes, header.extra_bytes), listed);
  directory.remove_prefix(rest_bytes);
  return listed;
}

/// Finds the bytes of an entry, which follow its local header.
void find_bytes(const BoundedFile& file, const Directory& directory, DirectoryEntry& listed) {
  auto header = file.record<zip::LocalHeader>(listed.header_position);
  auto name = file.bytes(listed.header_position + sizeof(header), header.name_bytes);
  listed.entry.begin = listed.header_position + sizeof(header) + header.name_bytes + header.extra_bytes;
  if (header.signature != zip::LocalHeader::kSignature || name != listed.name ||
      listed.entry.begin > directory.position || listed.entry.bytes > directory.position - listed.entry.begin) {
    file.refuse("an entry is not where its directory says");
  }
}

}  // namespace

ZipReader::ZipReader(ReadAt read_at, uint64_t file_bytes, std::string source)
    : read_at_(std::move(read_at)), source_(std::move(source)) {
  BoundedFile file(read_at_, file_bytes, source_);
  auto directory = find_directory(file);
  auto text = file.bytes(directory.position, directory.bytes);
  std::string_view rest = text;
  std::vector<DirectoryEntry> all;
  for (uint64_t i = 0; i < directory.entries; ++i) {
    all.push_back(take_entry(file, rest));
    find_bytes(file, directory, all.back());
  }
  std::sort(all.begin(), all.end(), [](const DirectoryEntry& left, const DirectoryEntry& right) {
    return left.header_position < right.header_position;
  });
  uint64_t end_of_last = 0;
  for (auto& listed : all) {
    if (listed.header_position < end_of_last) file.refuse("its entries overlap");
    end_of_last = listed.entry.begin + listed.entry.bytes;
    if (!entries_.emplace(std::move(listed.name), listed.entry).second) file.refuse("two entries have the same name");
  }
}

const ZipEntry& ZipReader::at(std::string_view name) const {
  auto entry = entries_.find(name);
  if (entry == entries_.end()) fail(source_, ": has no entry ", name, "; it is incomplete");
  return entry->second;
}

std::string ZipReader::read(std::string_view name) const {
  const auto& entry = at(name);
  std::string bytes(entry.bytes, '\0');
  read_at_(entry.begin, bytes.data(), bytes.size());
  check_sum(name, crc32(bytes));
  return bytes;
}

void ZipReader::check_sum(std::string_view name, uint32_t sum) const {
  if (sum != at(name).crc32) fail(source_, ": the checksum of ", name, " is wrong; the file is damaged");
}

}  // namespace accelerate::formats
