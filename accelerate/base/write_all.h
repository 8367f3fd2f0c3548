#pragma once

// Writing everything, although the system may take a part at a time.

#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>

namespace accelerate {

/// Writes all bytes, and waits where there is no room for a moment. Returns false when that fails, for example because
/// nobody reads any more; errno says why.
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
