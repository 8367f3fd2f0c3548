#pragma once

// Is a directory what its manifest says?

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/durable/manifest.h"

namespace accelerate::durable {

enum class Check {
  Sizes,      // finds what is missing or torn, without reading
  Checksums,  // finds a flipped bit too
};

/// What is wrong with the files of `records`, a sentence for each, naming the file; empty when all are as they were
/// saved. Ranks that load together may share the records out.
std::vector<std::string> damage(const std::filesystem::path& directory, const std::vector<FileRecord>& records,
                                Check check);

/// Throws Error that lists all damaged files, not the first alone, and returns the manifest otherwise. A directory
/// without one, as Python writes it, gives nothing and a note in the log: there is nothing to compare it with. A
/// directory that a crash has left half replaced is restored first.
std::optional<Manifest> verify(const std::filesystem::path& directory, Check check = Check::Checksums);

/// Why a directory is no complete checkpoint, in a sentence; empty when all files are there in their full size. Without
/// a manifest a directory is complete when it is not empty. Throws UnknownVersion when nobody here can say.
std::string incompleteness(const std::filesystem::path& directory);

/// Whether it is a complete checkpoint that this release can read.
bool is_complete(const std::filesystem::path& directory);

}  // namespace accelerate::durable
