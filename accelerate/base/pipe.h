#pragma once

// A pipe with owned ends.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/error.h"

namespace accelerate {

/// Both ends are close-on-exec.
struct Pipe {
  Descriptor read_end;
  Descriptor write_end;
};

/// Throws Error that begins with `problem`, such as "rank 3 cannot be started", if the system is out of descriptors.
inline Pipe open_pipe(std::string_view problem) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail(problem, ": pipe: ", std::strerror(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

}  // namespace accelerate
