#pragma once

// The process in which cells run, seen from the kernel.

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

/// Keeps back the beginning of a character whose other bytes are still to come.
class TextStream {
 public:
  /// What can be shown after `bytes` have come too.
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

/// The byte at which character number `character` of a UTF-8 text begins, and the other way round.
inline size_t byte_of_character(std::string_view text, size_t character) {
  size_t byte = 0;
  for (; byte < text.size(); ++byte) {
    if (!is_utf8_continuation(text[byte]) && character-- == 0) break;
  }
  return byte;
}
inline size_t character_of_byte(std::string_view text, size_t byte) { return count_characters(text.substr(0, byte)); }

/// What happens while a worker is busy.
struct WorkerEvents {
  std::function<void(const std::string& stream, const std::string& text)> printed;
  std::function<void(const nlohmann::json& message)> message;
  std::function<bool()> interrupted;  // whether the user has asked to stop since the last call
};

class WorkerProcess {
 public:
  /// `command` is the program and its flags; the descriptors of its pipes are put between them.
  explicit WorkerProcess(std::vector<std::string> command) : command_(std::move(command)) {}
  WorkerProcess(const WorkerProcess&) = delete;
  WorkerProcess& operator=(const WorkerProcess&) = delete;
  ~WorkerProcess() { stop(); }

  /// Starts the process without waiting for it: its first message says that it is ready. Throws Error.
  void start();

  /// Kills the process and what it has started.
  void stop();

  bool running() const { return pid_ > 0; }

  void send(const nlohmann::json& request);

  /// Passes on what the worker prints and sends until it says that it is done, and returns that message. An interrupt
  /// reaches all processes of the worker; one that goes on is killed a little later. Nothing when the worker has died:
  /// `end()` tells how.
  std::optional<nlohmann::json> wait_until_done(const WorkerEvents& events, int descriptor_of_interrupts);

  /// How a worker ended that has died by itself or was killed after an interrupt.
  const std::string& end() const { return end_; }
  bool was_interrupted() const { return was_interrupted_; }

 private:
  struct Stream {
    Descriptor terminal = Descriptor();
    std::string name = {};
    TextStream text = {};
    std::string unsent = {};                               // was read, and is yet to be passed on
    std::chrono::steady_clock::time_point next_time = {};  // when something may be passed on
  };

  /// Reads once, and returns how many bytes that gave.
  static size_t read_some(Stream& stream);
  static void pass_on(Stream& stream, const WorkerEvents& events);
  /// Everything that has been written already.
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
