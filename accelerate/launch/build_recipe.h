#pragma once

// How a program that uses the library is compiled. The recipe lies beside the library that this command belongs to,
// installed or in a build directory.

#include <filesystem>
#include <string>
#include <vector>

namespace accelerate::launch {

struct BuildRecipe {
  std::string version = {};  // of the library
  std::string compiler = {};
  std::vector<std::string> headers = {};  // worth compiling once for all programs that include them
  std::vector<std::string> compile_flags = {};
  std::vector<std::string> link_flags = {};
};

/// The recipe below `prefix`, the directory above that of the command. Throws Error when the command was installed
/// without the library.
BuildRecipe read_build_recipe(const std::filesystem::path& prefix);

/// Adds the flags in CXXFLAGS and LDFLAGS behind those of the recipe, so that they override them. Words are divided,
/// quoted and expanded as in a shell. Throws Error if such a variable is no list of words.
BuildRecipe with_environment_flags(BuildRecipe recipe);

}  // namespace accelerate::launch
