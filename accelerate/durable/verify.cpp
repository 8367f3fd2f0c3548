#include "accelerate/durable/verify.h"

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <sstream>

#include "accelerate/base/error.h"
#include "accelerate/base/file.h"
#include "accelerate/base/log.h"
#include "accelerate/base/parallel_for.h"
#include "accelerate/durable/checksum.h"
#include "accelerate/durable/staging_directory.h"

namespace accelerate::durable {

namespace {

namespace fs = std::filesystem;

/// What is wrong with the existence or size of a file; empty if nothing.
std::string damage_of_size(const fs::path& directory, const FileRecord& record) {
  std::error_code error;
  auto bytes = fs::file_size(directory / record.name, error);
  if (error == std::errc::no_such_file_or_directory) return record.name + " is missing";
  if (error) return record.name + " cannot be read: " + error.message();
  if (bytes == record.bytes) return "";
  return record.name + " has " + std::to_string(bytes) + " bytes instead of " + std::to_string(record.bytes);
}

/// A piece of a file and its hash.
struct PieceSum {
  size_t file;  // its index in the records
  uint64_t begin;
  uint64_t sum = 0;
};

/// Hashes the pieces of all files whose entry in `sentences` is empty, on several threads. If a file cannot be read,
/// its entry becomes the reason.
std::vector<PieceSum> sum_up(const fs::path& directory, const std::vector<FileRecord>& records,
                             std::vector<std::string>& sentences) {
  std::vector<PieceSum> pieces;
  uint64_t bytes = 0;
  for (size_t file = 0; file < records.size(); ++file) {
    if (!sentences[file].empty()) continue;
    bytes += records[file].bytes;
    for (uint64_t begin = 0; begin < records[file].bytes; begin += kChecksumPieceBytes) pieces.push_back({file, begin});
  }
  std::mutex mutex;
  parallel_for(pieces.size(), threads_to_move(bytes), [&](size_t turn) {
    auto& [file, begin, sum] = pieces[turn];
    try {
      // Opened for each piece, because a checkpoint may have more files than a process may have open.
      sum = checksum_of_piece(File::open(directory / records[file].name), begin, records[file].bytes);
    } catch (const Error& unreadable) {
      std::lock_guard lock(mutex);
      sentences[file] = unreadable.what();
    }
  });
  return pieces;
}

void compare_checksums(const fs::path& directory, const std::vector<FileRecord>& records,
                       std::vector<std::string>& sentences) {
  std::vector<std::vector<uint64_t>> sums(records.size());
  for (const auto& piece : sum_up(directory, records, sentences)) sums[piece.file].push_back(piece.sum);
  for (size_t file = 0; file < records.size(); ++file) {
    if (!sentences[file].empty() || checksum_of_pieces(sums[file]) == records[file].checksum) continue;
    sentences[file] = records[file].name + " has been changed: its checksum differs from the saved one";
  }
}

}  // namespace

std::vector<std::string> damage(const fs::path& directory, const std::vector<FileRecord>& records, Check check) {
  std::vector<std::string> sentences;
  for (const auto& record : records) sentences.push_back(damage_of_size(directory, record));
  if (check == Check::Checksums) compare_checksums(directory, records, sentences);
  std::erase(sentences, "");
  return sentences;
}

std::optional<Manifest> verify(const fs::path& directory, Check check) {
  restore(directory);
  if (!fs::is_directory(directory)) fail(directory.string(), ": no such directory");
  auto manifest = read_manifest(directory);
  if (!manifest) {
    get_logger("accelerate.durable")
        .warning(directory.string() + ": there is no " + kManifestName + ", so its files cannot be verified");
    return manifest;
  }
  auto sentences = damage(directory, manifest->files, check);
  if (sentences.empty()) return manifest;
  std::ostringstream list;
  for (const auto& sentence : sentences) list << "\n  " << sentence;
  fail(directory.string(), ": this checkpoint is damaged; load another one:", list.str());
}

std::string incompleteness(const fs::path& directory) {
  std::error_code error;
  if (!fs::is_directory(directory, error)) return "it is not a directory";
  try {
    const auto manifest = read_manifest(directory);
    if (!manifest) return fs::is_empty(directory, error) ? "it is empty" : "";
    const auto sentences = damage(directory, manifest->files, Check::Sizes);
    return sentences.empty() ? "" : sentences.front();
  } catch (const UnknownVersion&) {
    throw;
  } catch (const Error& unreadable) {
    return unreadable.what();
  }
}

bool is_complete(const fs::path& directory) {
  try {
    return incompleteness(directory).empty();
  } catch (const UnknownVersion&) {
    return false;
  }
}

}  // namespace accelerate::durable
