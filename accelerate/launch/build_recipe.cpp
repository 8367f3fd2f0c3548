#include "accelerate/launch/build_recipe.h"

#include <wordexp.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

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

}  // namespace accelerate::launch
