#pragma once

// An owned file descriptor, a pipe of two, and writing all bytes to one.

#include <fcntl.h>
#include <poll.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "accelerate/base/error.h"

namespace accelerate {

/// Closes the descriptor on destruction, unless it was released. Negative means none.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  Descriptor(Descriptor&& other) noexcept : fd_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    std::swap(fd_, other.fd_);
    return *this;
  }
  ~Descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }

  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }

  /// Gives the open descriptor to the caller.
  int release() { return std::exchange(fd_, -1); }

 private:
  int fd_;
};

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

/// Writes all bytes despite partial writes, and blocks while the descriptor is full. Returns false on an error, such as
/// a closed pipe; errno has the reason.
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
