#pragma once

// Comparing a directory with its manifest.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/durable/manifest.h"

namespace accelerate::durable {

enum class Check {
  Sizes,      // finds missing and truncated files, without reading them
  Checksums,  // finds flipped bits too
};

/// One sentence for each damaged file of `records`, naming it; empty if all are intact. Ranks that load the same
/// checkpoint may divide the records among them.
std::vector<std::string> damage(const std::filesystem::path& directory, const std::vector<FileRecord>& records,
                                Check check);

/// Returns the manifest, or throws Error that lists all damaged files. A directory without a manifest, as Python writes
/// it, cannot be verified: logs that and returns nothing. Finishes an interrupted replacement first.
std::optional<Manifest> verify(const std::filesystem::path& directory, Check check = Check::Checksums);

/// Why a directory is not a complete checkpoint, in one sentence; empty if all files are there with their full size. A
/// directory without a manifest is complete if it is not empty. Throws UnknownVersion if this release cannot tell.
std::string incompleteness(const std::filesystem::path& directory);

/// Whether the directory is a complete checkpoint that this release can read.
bool is_complete(const std::filesystem::path& directory);

}  // namespace accelerate::durable
