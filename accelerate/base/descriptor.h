#pragma once

// An owned file descriptor, a pipe of two, and writing all bytes to one.

#include <unistd.h>

#include <string_view>
#include <utility>

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
Pipe open_pipe(std::string_view problem);

/// Writes all bytes despite partial writes, and blocks while the descriptor is full. Returns false on an error, such as
/// a closed pipe; errno has the reason.
bool write_all(int descriptor, std::string_view bytes);

}  // namespace accelerate
