#pragma once

// The protocol between kernel and worker: length-prefixed JSON messages over a pair of pipes.

#include <optional>
#include <string>
#include <string_view>

namespace accelerate::notebook {

/// Writes a frame atomically, even if other threads and forked ranks write to the same pipe. Returns false if the
/// reading end is closed.
bool write_frame(int pipe, std::string_view text);

/// Reads frames from a pipe.
class FrameReader {
 public:
  explicit FrameReader(int pipe = -1) : pipe_(pipe) {}

  /// Reads once, blocking if there is no data. Returns false at the end of the stream.
  bool read_some();

  /// A complete frame, if there is one. Throws Error for invalid data.
  std::optional<std::string> take();

  /// Waits for a frame; nullopt at the end of the stream.
  std::optional<std::string> wait();

 private:
  int pipe_;
  std::string pending_;
};

}  // namespace accelerate::notebook
