#include "accelerate/durable/seal.h"

#include <fcntl.h>

#include "accelerate/base/file.h"
#include "accelerate/durable/checksum.h"

namespace accelerate::durable {

FileRecord seal_file(const std::filesystem::path& directory, const std::string& name) {
  auto file = File::open(directory / name);
  sync_file_range(file.descriptor(), 0, 0, SYNC_FILE_RANGE_WRITE);  // the disk begins while we compute
  FileRecord record{.name = name, .bytes = file.bytes(), .checksum = checksum_of(file)};
  file.flush_to_disk();
  return record;
}

std::vector<FileRecord> seal_files(const std::filesystem::path& directory, const std::vector<std::string>& names) {
  std::vector<FileRecord> records;
  for (const auto& name : names) records.push_back(seal_file(directory, name));
  return records;
}

}  // namespace accelerate::durable
