#pragma once

// The whole content of a file.

#include <filesystem>
#include <optional>
#include <string>

namespace accelerate {

/// The bytes of a file; also of one in /proc, which does not say how many there are. Throws Error naming the path.
std::string read_file(const std::filesystem::path& path);

/// Nothing when there is no such file, or this process may not read it.
std::optional<std::string> read_file_if_there(const std::filesystem::path& path);

}  // namespace accelerate
