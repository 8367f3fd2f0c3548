#pragma once

// A C++ source file as a program: compiled against the library when it is first started, and kept.

#include <filesystem>
#include <string>

#include "accelerate/launch/build_recipe.h"

namespace accelerate::launch {

/// Whether the name is that of a C++ source file.
bool is_cpp_source(const std::string& program);

/// The directory where compiled programs are kept: accelerate/programs in XDG_CACHE_HOME, by default ~/.cache.
std::filesystem::path program_cache();

/// The executable made from `source`. One that was made before is used again if the source, the files it includes, the
/// library and the compiler are the same; then no compiler is needed. Otherwise says on standard error what it does.
/// Throws Error when the source cannot be read or does not compile; the compiler has then said why.
std::filesystem::path compile_program(const std::string& source, const BuildRecipe& recipe,
                                      const std::filesystem::path& cache);

}  // namespace accelerate::launch
