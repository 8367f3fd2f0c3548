#pragma once

// The manifest of a directory: every file with its size and checksum. It is written last, so a directory with a
// manifest is complete, and a file that differs from it is damaged.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "accelerate/base/error.h"

namespace accelerate::durable {

inline constexpr const char* kManifestName = "manifest.json";

/// A file at the time it was saved.
struct FileRecord {
  std::string name = {};  // below the directory, with / between folders
  uint64_t bytes = 0;
  uint64_t checksum = 0;  // see checksum.h

  bool operator==(const FileRecord&) const = default;
};

/// Serializes records, to send them to the rank that commits.
std::string encode_records(const std::vector<FileRecord>& records);
/// The inverse. Throws Error if the text does not come from encode_records.
std::vector<FileRecord> decode_records(std::string_view text);

struct Manifest {
  std::vector<FileRecord> files = {};                // sorted by name
  std::map<std::string, std::string> metadata = {};  // such as the step

  bool operator==(const Manifest&) const = default;
};

/// A manifest in the format of another release. The checkpoint may be complete, but this release cannot tell.
class UnknownVersion : public Error {
 public:
  using Error::Error;
};

/// The content of manifest.json, which includes its own checksum.
std::string encode_manifest(const Manifest& manifest);

/// Throws Error naming `path` if the text differs in any byte from what encode_manifest writes, or if a name escapes
/// the directory. Throws UnknownVersion if it is in another release's format.
Manifest decode_manifest(std::string_view text, const std::filesystem::path& path);

/// The manifest of a directory, or nothing if it has none, as in directories written by Python. Throws Error if it is
/// damaged or cannot be read.
std::optional<Manifest> read_manifest(const std::filesystem::path& directory);

}  // namespace accelerate::durable
