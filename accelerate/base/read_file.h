#pragma once

// Reads a whole file.

#include <filesystem>
#include <optional>
#include <string>

namespace accelerate {

/// The content of a file. Also works in /proc, where the size is unknown. Throws Error naming the path.
std::string read_file(const std::filesystem::path& path);

/// Nothing if the file does not exist or is not readable.
std::optional<std::string> read_file_if_there(const std::filesystem::path& path);

}  // namespace accelerate
