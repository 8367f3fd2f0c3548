#pragma once

// Whether the library that programs were compiled against is still the same.

#include <string>

#include "accelerate/launch/build_recipe.h"

namespace accelerate::launch {

/// A name for the content of the library's headers below the include directories of the recipe, and for the version of
/// libtorch there. The compiler does not list them among the files that a program depends on, because they count as
/// headers of the system.
std::string key_of_library_headers(const BuildRecipe& recipe);

}  // namespace accelerate::launch
