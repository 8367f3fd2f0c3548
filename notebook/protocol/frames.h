#pragma once

// How the two processes of the kernel talk: JSON texts, each with its length before it, over a pair of pipes.

#include <optional>
#include <string>
#include <string_view>

namespace accelerate::notebook {

/// Writes a frame in one piece, also when other threads and forked ranks write to the same pipe. Returns false when
/// nobody reads any more.
bool write_frame(int pipe, std::string_view text);

/// Takes frames out of what a pipe delivers.
class FrameReader {
 public:
  explicit FrameReader(int pipe = -1) : pipe_(pipe) {}

  /// Reads once, waiting if there is nothing. Returns false at the end.
  bool read_some();

  /// A frame that has come completely, if there is one. Throws Error for something that is no frame.
  std::optional<std::string> take();

  /// Waits for a frame. Nothing at the end.
  std::optional<std::string> wait();

 private:
  int pipe_;
  std::string pending_;
};

}  // namespace accelerate::notebook
