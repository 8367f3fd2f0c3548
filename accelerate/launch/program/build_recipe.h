#pragma once

// How to compile a program that uses the library. The recipe is stored next to the library that this command belongs
// to, in an installation or a build directory.

#include <filesystem>
#include <string>
#include <vector>

namespace accelerate::launch {

struct BuildRecipe {
  std::string version = {};  // of the library
  std::string compiler = {};
  std::vector<std::string> headers = {};  // worth precompiling for all programs that include them
  std::vector<std::string> compile_flags = {};
  std::vector<std::string> link_flags = {};
};

/// Reads the recipe below `prefix`, the parent of the command's directory. Throws Error if the command was installed
/// without the library.
BuildRecipe read_build_recipe(const std::filesystem::path& prefix);

/// Appends the flags in CXXFLAGS and LDFLAGS to the flags of the recipe, so that they override these. Words are split,
/// quoted and expanded as in a shell. Throws Error if a variable cannot be split into words.
BuildRecipe with_environment_flags(BuildRecipe recipe);

/// A key of the content of the library's headers, found through the include directories of the recipe, and of the
/// version of libtorch there. The compiler does not list them as dependencies of a program, because they are system
/// headers.
std::string key_of_library_headers(const BuildRecipe& recipe);

}  // namespace accelerate::launch
