#pragma once

// The process in which cells run, seen from the kernel.

#include <sys/types.h>

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "accelerate/base/descriptor.h"
#include "notebook/kernel/text_stream.h"
#include "notebook/protocol/frames.h"

namespace accelerate::notebook {

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
