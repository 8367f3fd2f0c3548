#include "accelerate/durable/seal.h"

#include <fcntl.h>

#include <algorithm>

namespace accelerate::durable {

namespace {

constexpr size_t kPieceBytes = size_t{128} << 10;    // fits the cache: hashed, then copied by the kernel
constexpr uint64_t kBeginBytes = uint64_t{8} << 20;  // start write-back each time this much is dirty

/// Starts write-back without waiting for it.
void begin_writing(const File& file) { sync_file_range(file.descriptor(), 0, 0, SYNC_FILE_RANGE_WRITE); }

}  // namespace

SealedFile::SealedFile(const std::filesystem::path& directory, const std::string& name)
    : name_(name), file_(File::create(directory / name)) {}

void SealedFile::append(std::string_view bytes) {
  for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), kPieceBytes))) {
    const auto piece = bytes.substr(0, kPieceBytes);
    checksum_.add(piece);
    file_.append(piece);
    bytes_ += piece.size();
    if (bytes_ - begun_bytes_ < kBeginBytes) continue;
    begin_writing(file_);
    begun_bytes_ = bytes_;
  }
}

FileRecord SealedFile::seal() const {
  file_.flush_to_disk();
  return {.name = name_, .bytes = bytes_, .checksum = checksum_.value()};
}

FileRecord seal_file(const std::filesystem::path& directory, const std::string& name) {
  auto file = File::open(directory / name);
  begin_writing(file);  // the disk works while the checksum is computed
  FileRecord record{.name = name, .bytes = file.bytes(), .checksum = checksum_of(file)};
  file.flush_to_disk();
  return record;
}

}  // namespace accelerate::durable
