#include "accelerate/durable/verify.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <numeric>
#include <sstream>

#include "accelerate/base/error.h"
#include "accelerate/base/file.h"
#include "accelerate/base/log.h"
#include "accelerate/base/shared_work.h"
#include "accelerate/durable/checksum.h"
#include "accelerate/durable/workplace.h"

namespace accelerate::durable {

namespace {

namespace fs = std::filesystem;

/// What is wrong with one file, or nothing.
std::string damage_of(const fs::path& directory, const FileRecord& record, Check check) {
  std::error_code error;
  auto path = directory / record.name;
  auto bytes = fs::file_size(path, error);
  if (error == std::errc::no_such_file_or_directory) return record.name + " is missing";
  if (error) return record.name + " cannot be read: " + error.message();
  if (bytes != record.bytes) {
    return record.name + " has " + std::to_string(bytes) + " bytes instead of " + std::to_string(record.bytes);
  }
  if (check == Check::Sizes) return "";
  try {
    if (checksum_of(File::open(path)) == record.checksum) return "";
  } catch (const Error& unreadable) {
    return unreadable.what();
  }
  return record.name + " has been changed: its checksum is not the one from when it was saved";
}

int threads_to_read(const std::vector<FileRecord>& records) {
  uint64_t bytes = 0;
  for (const auto& record : records) bytes += record.bytes;
  return threads_to_move(bytes);
}

}  // namespace

std::vector<std::string> damage(const fs::path& directory, const std::vector<FileRecord>& records, Check check) {
  std::vector<std::string> sentences(records.size());
  // The largest first: who comes to it last would be the one that all others wait for.
  std::vector<size_t> order(records.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, std::greater(), [&](size_t index) { return records[index].bytes; });
  share_out(order.size(), check == Check::Sizes ? 1 : threads_to_read(records), [&](size_t turn) {
    const auto index = order[turn];
    sentences[index] = damage_of(directory, records[index], check);
  });
  std::erase(sentences, "");
  return sentences;
}

std::optional<Manifest> verify(const fs::path& directory, Check check) {
  restore(directory);
  if (!fs::is_directory(directory)) fail(directory.string(), ": no such directory");
  auto manifest = read_manifest(directory);
  if (!manifest) {
    get_logger("accelerate.durable")
        .warning(directory.string() + ": there is no " + kManifestName + ", so its files are taken as they are");
    return manifest;
  }
  auto sentences = damage(directory, manifest->files, check);
  if (sentences.empty()) return manifest;
  std::ostringstream list;
  for (const auto& sentence : sentences) list << "\n  " << sentence;
  fail(directory.string(), ": this checkpoint is damaged, load another one:", list.str());
}

bool is_complete(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) return false;
  try {
    auto manifest = read_manifest(directory);
    return manifest ? damage(directory, manifest->files, Check::Sizes).empty() : !fs::is_empty(directory, error);
  } catch (const Error&) {
    return false;
  }
}

}  // namespace accelerate::durable
