#pragma once

// A file that has been written becomes one that stays: it is put on the disk, and its size and checksum are taken.

#include <filesystem>
#include <string>
#include <vector>

#include "accelerate/durable/manifest.h"

namespace accelerate::durable {

/// Returns when the file `name` below `directory` is on the disk. Each rank does this for the files it wrote, all at
/// the same time. Throws Error naming the file.
FileRecord seal_file(const std::filesystem::path& directory, const std::string& name);

/// seal_file for each name.
std::vector<FileRecord> seal_files(const std::filesystem::path& directory, const std::vector<std::string>& names);

}  // namespace accelerate::durable
