#include "accelerate/launch/build_recipe.h"

#include <fstream>
#include <nlohmann/json.hpp>
#include <string_view>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"

namespace accelerate::launch {

namespace fs = std::filesystem;

namespace {

/// "{prefix}" stands for where the library is now, so that an installation can be moved.
std::vector<std::string> with_prefix(std::vector<std::string> flags, const std::string& prefix) {
  constexpr std::string_view kPlaceholder = "{prefix}";
  for (auto& flag : flags) {
    for (size_t at; (at = flag.find(kPlaceholder)) != std::string::npos;) flag.replace(at, kPlaceholder.size(), prefix);
  }
  return flags;
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

}  // namespace accelerate::launch
