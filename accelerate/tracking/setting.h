#pragma once

// Tracker settings that come from the program or the environment.

#include <string>

#include "accelerate/base/environment.h"

namespace accelerate::tracking {

/// `given` if not empty, otherwise the variable if set and not empty, otherwise `fallback`.
inline std::string setting(const std::string& given, const char* variable, const std::string& fallback = "") {
  if (!given.empty()) return given;
  const auto value = environment_variable(variable);
  return value && !value->empty() ? *value : fallback;
}

}  // namespace accelerate::tracking
