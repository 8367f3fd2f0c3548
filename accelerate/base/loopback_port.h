#pragma once

// A TCP port of the loopback interface, reserved before the processes that use it start, so that it is not taken in
// between. No other machine can connect to it.

#include "accelerate/base/descriptor.h"

namespace accelerate {

/// A socket bound to a port of 127.0.0.1. Closed on destruction.
class LoopbackPort {
 public:
  /// Binds `number`, or a free port for 0. Throws Error if another program listens on it. Until listen(), an unrelated
  /// process may still bind the same port.
  explicit LoopbackPort(int number = 0);
  LoopbackPort(const LoopbackPort&) = delete;
  LoopbackPort& operator=(const LoopbackPort&) = delete;

  int fd() const { return socket_.get(); }  // close-on-exec
  int number() const { return number_; }

  /// Lets clients connect; they queue until accepted.
  void listen();

  /// Gives the socket to the caller, who closes it.
  int release() { return socket_.release(); }

  void close() { socket_ = Descriptor(); }

 private:
  Descriptor socket_;
  int number_ = 0;
};

}  // namespace accelerate
