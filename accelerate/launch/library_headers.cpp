#include "accelerate/launch/library_headers.h"

#include <algorithm>
#include <filesystem>
#include <set>
#include <vector>

#include "accelerate/base/content_key.h"

namespace accelerate::launch {

namespace fs = std::filesystem;

namespace {

std::vector<fs::path> include_directories(const BuildRecipe& recipe) {
  std::vector<fs::path> directories;
  for (size_t i = 1; i < recipe.compile_flags.size(); ++i) {
    if (recipe.compile_flags[i - 1] == "-isystem") directories.emplace_back(recipe.compile_flags[i]);
  }
  return directories;
}

/// "accelerate" for accelerate/accelerate.h.
std::set<fs::path> header_folders(const BuildRecipe& recipe) {
  std::set<fs::path> folders;
  for (const fs::path header : recipe.headers) {
    if (header.has_parent_path()) folders.insert(*header.begin());
  }
  return folders;
}

/// Sorted, because the order of directory entries may change.
std::set<fs::path> headers_below(const fs::path& directory) {
  std::set<fs::path> headers;
  std::error_code error;
  auto options = fs::directory_options::skip_permission_denied;
  for (fs::recursive_directory_iterator entry(directory, options, error), end; !error && entry != end;
       entry.increment(error)) {
    if (entry->path().extension() == ".h") headers.insert(entry->path());
  }
  return headers;
}

}  // namespace

std::string key_of_library_headers(const BuildRecipe& recipe) {
  ContentKey key;
  for (const auto& directory : include_directories(recipe)) {
    for (const auto& folder : header_folders(recipe)) {
      for (const auto& header : headers_below(directory / folder)) key.add(header.string()).add_file(header);
    }
    key.add_file(directory / "torch" / "version.h");
  }
  return key.hex();
}

}  // namespace accelerate::launch
