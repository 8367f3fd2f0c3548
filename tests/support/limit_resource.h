#pragma once

// Limits of a process, as `ulimit` sets them.

#include <sys/resource.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>
#include <cstring>
#include <fstream>

#include "accelerate/base/error.h"

namespace accelerate::tests {

/// From here on this process can have no more than `most` of the resource (RLIMIT_...); it can be raised again.
inline void limit_resource(decltype(RLIMIT_AS) resource, rlim_t most) {
  rlimit limits{};
  getrlimit(resource, &limits);
  limits.rlim_cur = most;
  if (setrlimit(resource, &limits) != 0) fail("a limit cannot be set: ", std::strerror(errno));
}

/// The addresses that this process uses, in bytes.
inline size_t used_addresses() {
  size_t pages = 0;
  std::ifstream("/proc/self/statm") >> pages;
  return pages * static_cast<size_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace accelerate::tests
