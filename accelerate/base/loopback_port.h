#pragma once

// A TCP port of this machine, taken before the processes start that will use it: no other program can grab it in
// between, and nobody outside of the machine can connect to it.

#include "accelerate/base/descriptor.h"

namespace accelerate {

/// A socket bound to a port of 127.0.0.1. Closed with the object.
class LoopbackPort {
 public:
  /// Takes `number`, or a free port for 0. Throws Error when another program listens there. Until someone listens on
  /// it, a process that knows nothing of this socket may still bind the port for itself.
  explicit LoopbackPort(int number = 0);
  LoopbackPort(const LoopbackPort&) = delete;
  LoopbackPort& operator=(const LoopbackPort&) = delete;

  int fd() const { return socket_.get(); }  // closed by exec
  int number() const { return number_; }

  /// Lets clients connect; they wait until someone accepts them.
  void listen();

  /// The socket, which the caller has to close.
  int release() { return socket_.release(); }

  void close() { socket_ = Descriptor(); }

 private:
  Descriptor socket_;
  int number_ = 0;
};

}  // namespace accelerate
