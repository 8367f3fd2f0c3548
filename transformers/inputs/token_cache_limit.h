#pragma once

// How much of the disk the tokens of earlier runs may take.

#include <cstdint>
#include <filesystem>

namespace transformers::inputs {

/// Removes files of tokens from `directory`, those first that have not been used for longest, until all together have
/// at most `limit_bytes`. `kept` stays whatever its size. Other processes may do the same; a file that one of them
/// removes first is no error.
void limit_token_files(const std::filesystem::path& directory, int64_t limit_bytes, const std::filesystem::path& kept);

/// Notes that a file was used just now.
void touch_token_file(const std::filesystem::path& file);

}  // namespace transformers::inputs
