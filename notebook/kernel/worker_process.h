#pragma once

// The kernel's side of the worker process, which runs the cells.

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "accelerate/base/descriptor.h"
#include "accelerate/base/utf8.h"
#include "notebook/protocol/frames.h"

namespace accelerate::notebook {

/// Decodes a stream of UTF-8 bytes. Holds back an incomplete character until its other bytes arrive.
class TextStream {
 public:
  /// Appends `bytes` and returns the complete characters.
  std::string add(std::string_view bytes) {
    pending_ += bytes;
    auto text = pending_.substr(0, pending_.size() - unfinished_bytes());
    pending_.erase(0, text.size());
    return text;
  }

 private:
  /// The bytes at the end that begin a character of UTF-8 without completing it.
  size_t unfinished_bytes() const {
    for (size_t count = 1; count <= 3 && count <= pending_.size(); ++count) {
      char byte = pending_[pending_.size() - count];
      if (!is_utf8_continuation(byte)) return character_bytes(byte) > count ? count : 0;
    }
    return 0;
  }

  std::string pending_;
};

/// The byte offset of character number `character` of a UTF-8 text; character_of_byte is the inverse.
inline size_t byte_of_character(std::string_view text, size_t character) {
  size_t byte = 0;
  for (; byte < text.size(); ++byte) {
    if (!is_utf8_continuation(text[byte]) && character-- == 0) break;
  }
  return byte;
}
inline size_t character_of_byte(std::string_view text, size_t byte) { return count_characters(text.substr(0, byte)); }

/// Callbacks for events while a worker is busy.
struct WorkerEvents {
  std::function<void(const std::string& stream, const std::string& text)> printed;
  std::function<void(const nlohmann::json& message)> message;
  std::function<bool()> interrupted;  // whether the user has interrupted since the last call
};

class WorkerProcess {
 public:
  /// `command` is the program and its flags. The descriptors of its pipes are inserted after the program.
  explicit WorkerProcess(std::vector<std::string> command) : command_(std::move(command)) {}
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess() { stop(); }

  /// Starts the process without waiting for it: its first message says that it is ready. Throws Error if that fails.
  void start();

  /// Kills the process and its descendants.
  void stop();

  bool running() const { return pid_ > 0; }

  void send(const nlohmann::json& request);

  /// Forwards output and messages of the worker until its message that it is done, and returns that message. An
  /// interrupt is sent to all processes of the worker; if it does not stop in time, it is killed. Returns nullopt if
  /// the worker has died; then `end()` says how.
  std::optional<nlohmann::json> wait_until_done(const WorkerEvents& events, int descriptor_of_interrupts);

  /// How a worker ended that crashed or was killed after an interrupt.
  const std::string& end() const { return end_; }
  bool was_interrupted() const { return was_interrupted_; }

 private:
  struct Stream {
    Descriptor terminal = Descriptor();
    std::string name = {};
    TextStream text = {};
    std::string unsent = {};                               // was read, but not forwarded yet
    std::chrono::steady_clock::time_point next_time = {};  // earliest time of the next forwarding
  };

  /// Reads once, and returns how many bytes that gave.
  static size_t read_some(Stream& stream);
  static void pass_on(Stream& stream, const WorkerEvents& events);
  /// Forwards everything that has been written already.
  void pass_on_all(const WorkerEvents& events);

  std::vector<std::string> command_;
  pid_t pid_ = -1;
  Descriptor requests_;
  Descriptor replies_;
  Stream streams_[2];
  FrameReader reader_;
  std::string end_;
  bool was_interrupted_ = false;
};

}  // namespace accelerate::notebook
