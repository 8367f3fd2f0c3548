#include "accelerate/launch/program/build_recipe.h"

#include <wordexp.h>

#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <string_view>

#include "accelerate/base/content_key.h"
#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"

namespace accelerate::launch {

namespace fs = std::filesystem;

namespace {

/// Replaces "{prefix}" by the current location of the library, so that an installation is relocatable.
std::vector<std::string> with_prefix(std::vector<std::string> flags, const std::string& prefix) {
  constexpr std::string_view kPlaceholder = "{prefix}";
  for (auto& flag : flags) {
    for (size_t at; (at = flag.find(kPlaceholder)) != std::string::npos;) flag.replace(at, kPlaceholder.size(), prefix);
  }
  return flags;
}

/// Splits an environment variable into words like a shell, without command substitution.
std::vector<std::string> words_in_variable(const std::string& name) {
  wordexp_t expanded{};
  const auto text = environment_variable(name).value_or("");
  const int error = wordexp(text.c_str(), &expanded, WRDE_NOCMD);
  if (error != 0) {
    if (error == WRDE_NOSPACE) wordfree(&expanded);
    fail(name, " is '", text, "', which is not a list of flags; quote the characters that are special in a shell");
  }
  std::vector<std::string> words(expanded.we_wordv, expanded.we_wordv + expanded.we_wordc);
  wordfree(&expanded);
  return words;
}

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

BuildRecipe read_build_recipe(const fs::path& prefix) {
  auto path = prefix / ACCELERATE_LIBDIR / "accelerate" / "program.json";
  std::ifstream file(path);
  auto json = nlohmann::json::parse(file, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) {
    fail("C++ programs cannot be compiled here: ", path.string(),
         " is missing, so this command was built without the library; build with libtorch, or run `make install`");
  }
  BuildRecipe recipe;
  recipe.version = json.at("version");
  recipe.compiler = environment_variable("CXX").value_or(json.at("compiler").get<std::string>());
  recipe.headers = json.at("headers").get<std::vector<std::string>>();
  recipe.compile_flags = with_prefix(json.at("compile"), prefix.string());
  recipe.link_flags = with_prefix(json.at("link"), prefix.string());
  return recipe;
}

BuildRecipe with_environment_flags(BuildRecipe recipe) {
  for (auto& word : words_in_variable("CXXFLAGS")) recipe.compile_flags.push_back(std::move(word));
  for (auto& word : words_in_variable("LDFLAGS")) recipe.link_flags.push_back(std::move(word));
  return recipe;
}

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
