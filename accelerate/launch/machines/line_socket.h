#pragma once

// A connection between two launchers that carries lines of text.

#include <optional>
#include <string>

#include "accelerate/base/descriptor.h"

namespace accelerate::launch {

/// One endpoint. Notices at once that the peer has closed, and after about ten seconds that the peer's machine is
/// unreachable.
class LineSocket {
 public:
  explicit LineSocket(Descriptor socket);

  /// Sends one line. Errors show in gone().
  void send(const std::string& line) const;

  /// The next line, or nothing if none has arrived. Never blocks.
  std::optional<std::string> receive();

  /// Whether the peer has closed or has violated the protocol. Meaningful once receive() returns nothing.
  bool gone() const { return gone_; }

 private:
  Descriptor socket_;
  std::string text_ = {};  // received, but not returned yet
  bool gone_ = false;
};

}  // namespace accelerate::launch
