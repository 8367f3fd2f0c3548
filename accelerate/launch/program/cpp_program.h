#pragma once

// Runs a C++ source file as a program: compiles it against the library at the first start and caches the executable.

#include <filesystem>
#include <string>

#include "accelerate/launch/program/build_recipe.h"

namespace accelerate::launch {

/// Whether the name has the extension of a C++ source file.
bool is_cpp_source(const std::string& program);

/// The cache of compiled programs: accelerate/programs in XDG_CACHE_HOME, by default ~/.cache.
std::filesystem::path program_cache();

/// Returns the executable of `source`. Reuses the cached one if the source, the files it includes, the library and the
/// compiler are unchanged; this needs no compiler. Otherwise compiles, and reports this on standard error. Throws Error
/// if the source cannot be read or does not compile; the compiler has then printed the reason.
std::filesystem::path compile_program(const std::string& source, const BuildRecipe& recipe,
                                      const std::filesystem::path& cache);

}  // namespace accelerate::launch
