#include "transformers/inputs/token_cache_limit.h"

#include <algorithm>
#include <system_error>
#include <vector>

namespace transformers::inputs {

namespace fs = std::filesystem;

namespace {

struct TokenFile {
  fs::path path;
  fs::file_time_type used;
  int64_t bytes = 0;
};

std::vector<TokenFile> token_files(const fs::path& directory) {
  std::vector<TokenFile> files;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(directory, error)) {
    if (entry.path().extension() != ".safetensors") continue;
    auto used = entry.last_write_time(error);
    auto bytes = error ? 0 : entry.file_size(error);
    if (!error) files.push_back({entry.path(), used, static_cast<int64_t>(bytes)});
  }
  return files;
}

}  // namespace

void limit_token_files(const fs::path& directory, int64_t limit_bytes, const fs::path& kept) {
  auto files = token_files(directory);
  std::sort(files.begin(), files.end(), [](const auto& a, const auto& b) { return a.used > b.used; });
  std::stable_partition(files.begin(), files.end(), [&](const auto& file) { return file.path == kept; });
  int64_t total = 0;
  for (const auto& file : files) {
    total += file.bytes;
    std::error_code gone;
    if (total > limit_bytes && file.path != kept) fs::remove(file.path, gone);
  }
}

void touch_token_file(const fs::path& file) {
  std::error_code read_only;
  fs::last_write_time(file, fs::file_time_type::clock::now(), read_only);
}

}  // namespace transformers::inputs
