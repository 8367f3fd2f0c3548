#pragma once

// A resolver of host names that can be made to fail. It stands in for getaddrinfo of the whole program, so that one
// source of a test program includes this.

#include <dlfcn.h>
#include <netdb.h>

#include <atomic>

#include "accelerate/base/scope.h"

namespace accelerate::tests {

inline std::atomic<int> resolver_error = 0;

/// Until the scope ends no name is resolved: getaddrinfo returns `error`.
inline auto break_resolver(int error) {
  resolver_error = error;
  return ScopeExit([] { resolver_error = 0; });
}

}  // namespace accelerate::tests

extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** found) {
  static auto* real = reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  int error = accelerate::tests::resolver_error;
  return error != 0 ? error : real(name, service, hints, found);
}
