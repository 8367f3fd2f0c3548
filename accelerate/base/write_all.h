#pragma once

// Writes all bytes, despite partial writes.

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace accelerate {

/// Writes all bytes, and blocks while the descriptor is full. Returns false on an error, such as a closed pipe; errno
/// has the reason.
inline bool write_all(int descriptor, std::string_view bytes) {
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
