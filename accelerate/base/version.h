#pragma once

// The version of the library; CMakeLists.txt reads it from here.

namespace accelerate {

inline constexpr const char* kVersion = "0.1.0";

}  // namespace accelerate
