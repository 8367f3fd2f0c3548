#pragma once

// The name of a type as C++ writes it.

#include <cxxabi.h>

#include <cstdlib>
#include <string>
#include <typeinfo>

namespace accelerate::notebook {

/// "std::runtime_error" for its typeid.
inline std::string type_text(const std::type_info& type) {
  char* name = abi::__cxa_demangle(type.name(), nullptr, nullptr, nullptr);
  std::string text = name ? name : type.name();
  std::free(name);
  return text;
}

}  // namespace accelerate::notebook
