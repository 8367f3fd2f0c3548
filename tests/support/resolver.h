#pragma once

// A resolver of host names that can be made to fail. It stands in for getaddrinfo and getnameinfo of the whole program,
// so that one source of a test program includes this.

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

inline std::atomic<int> names_error = 0;

/// Until the scope ends no address has a name: getnameinfo returns `error`.
inline auto break_names(int error) {
  names_error = error;
  return ScopeExit([] { names_error = 0; });
}

}  // namespace accelerate::tests

extern "C" int getnameinfo(const sockaddr* address, socklen_t size, char* host, socklen_t host_size, char* service,
                           socklen_t service_size, int flags) {
  static auto* real = reinterpret_cast<decltype(&getnameinfo)>(dlsym(RTLD_NEXT, "getnameinfo"));
  int error = accelerate::tests::names_error;
  if (error != 0 && (flags & NI_NUMERICHOST) == 0) return error;
  return real(address, size, host, host_size, service, service_size, flags);
}

extern "C" int getaddrinfo(const char* name, const char* service, const addrinfo* hints, addrinfo** found) {
  static auto* real = reinterpret_cast<decltype(&getaddrinfo)>(dlsym(RTLD_NEXT, "getaddrinfo"));
  int error = accelerate::tests::resolver_error;
  return error != 0 ? error : real(name, service, hints, found);
}
