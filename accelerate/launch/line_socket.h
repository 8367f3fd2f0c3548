#pragma once

// A connection between two launchers, over which lines of text go.

#include <optional>
#include <string>

#include "accelerate/base/descriptor.h"

namespace accelerate::launch {

/// One side. A peer that closes is noticed at once, one whose machine is cut off after some ten seconds.
class LineSocket {
 public:
  explicit LineSocket(Descriptor socket);

  /// Sends one line; what becomes of it shows in gone().
  void send(const std::string& line) const;

  /// The next line that has come; nothing when there is none, yet or any more. Never waits.
  std::optional<std::string> receive();

  /// Whether the peer has closed or talks what no launcher would; known when receive() has nothing.
  bool gone() const { return gone_; }

 private:
  Descriptor socket_;
  std::string text_ = {};  // that has come and not been taken
  bool gone_ = false;
};

}  // namespace accelerate::launch
