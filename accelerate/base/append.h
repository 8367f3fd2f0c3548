#pragma once

// Where the bytes of a file in the making go.

#include <functional>
#include <string_view>

namespace accelerate {

/// Writes what follows to a file, or throws.
using Append = std::function<void(std::string_view bytes)>;

}  // namespace accelerate
