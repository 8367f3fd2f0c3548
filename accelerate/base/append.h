#pragma once

// The sink for the bytes of a file that is being written.

#include <functional>
#include <string_view>

namespace accelerate {

/// Appends bytes to a file, or throws.
using Append = std::function<void(std::string_view bytes)>;

}  // namespace accelerate
