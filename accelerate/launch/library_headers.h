#pragma once

// Detects whether the library that programs were compiled against has changed.

#include <string>

#include "accelerate/launch/build_recipe.h"

namespace accelerate::launch {

/// A key of the content of the library's headers, found through the include directories of the recipe, and of the
/// version of libtorch there. The compiler does not list them as dependencies of a program, because they are system
/// headers.
std::string key_of_library_headers(const BuildRecipe& recipe);

}  // namespace accelerate::launch
