#pragma once

// What a directory holds: every file with its size and checksum, in a file that is written last. A directory that has
// its manifest is complete, and a file that differs from it is damaged.

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

/// One file as it was when it was saved.
struct FileRecord {
  std::string name = {};  // below the directory, with / between folders
  uint64_t bytes = 0;
  uint64_t checksum = 0;  // see checksum.h

  bool operator==(const FileRecord&) const = default;
};

/// Records as text, to be sent to the rank that commits.
std::string encode_records(const std::vector<FileRecord>& records);
/// The opposite. Throws Error when the text is not what encode_records gives.
std::vector<FileRecord> decode_records(std::string_view text);

struct Manifest {
  std::vector<FileRecord> files = {};                // sorted by name
  std::map<std::string, std::string> metadata = {};  // whatever else a reader should know, such as the step

  bool operator==(const Manifest&) const = default;
};

/// A manifest in the form of another release: the checkpoint may be whole, and this release cannot tell.
class UnknownVersion : public Error {
 public:
  using Error::Error;
};

/// The text of the manifest's file: JSON that holds its own checksum.
std::string encode_manifest(const Manifest& manifest);

/// Throws Error naming `path` when the text is not, byte for byte, what encode_manifest gives, or when a name leads out
/// of the directory; UnknownVersion when another release has written it in its own form.
Manifest decode_manifest(std::string_view text, const std::filesystem::path& path);

/// The manifest of a directory; nothing when there is none, as in the folders that Python writes. Throws Error when it
/// is damaged or cannot be read.
std::optional<Manifest> read_manifest(const std::filesystem::path& directory);

}  // namespace accelerate::durable
