#pragma once

// Limits the disk space of the tokenisation cache.

#include <cstdint>
#include <filesystem>

namespace transformers::inputs {

/// Removes the least recently used cache files from `directory` until their total size is at most `limit_bytes`. `kept`
/// is never removed. Several processes may call it at once: it is no error if another one removes a file first.
void limit_token_files(const std::filesystem::path& directory, int64_t limit_bytes, const std::filesystem::path& kept);

/// Records that a file was used now.
void touch_token_file(const std::filesystem::path& file);

}  // namespace transformers::inputs
