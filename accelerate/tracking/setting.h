#pragma once

// Settings of trackers that a program, or the environment, can give.

#include <string>

#include "accelerate/base/environment.h"

namespace accelerate::tracking {

/// `given`, else the variable where it is set and not empty, else `fallback`.
inline std::string setting(const std::string& given, const char* variable, const std::string& fallback = "") {
  if (!given.empty()) return given;
  const auto value = environment_variable(variable);
  return value && !value->empty() ? *value : fallback;
}

}  // namespace accelerate::tracking
