#include "accelerate/base/descriptor.h"

#include <fcntl.h>
#include <poll.h>

#include <cerrno>
#include <cstring>

#include "accelerate/base/error.h"

namespace accelerate {

Pipe open_pipe(std::string_view problem) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) fail(problem, ": pipe: ", std::strerror(errno));
  return {Descriptor(ends[0]), Descriptor(ends[1])};
}

bool write_all(int descriptor, std::string_view bytes) {
  while (!bytes.empty()) {
    auto written = ::write(descriptor, bytes.data(), bytes.size());
    if (written >= 0) {
      bytes.remove_prefix(static_cast<size_t>(written));
    } else if (errno == EAGAIN) {
      pollfd room{descriptor, POLLOUT, 0};
      ::poll(&room, 1, -1);
    } else if (errno != EINTR) {
      return false;
    }
  }
  return true;
}

}  // namespace accelerate
