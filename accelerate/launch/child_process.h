#pragma once

// A child process. It leads its own process group unless it joins another, and it never outlives this process, however
// this process ends.

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/launch/program.h"

namespace accelerate::launch {

class ChildProcess {
 public:
  struct Setup {
    std::vector<std::string> environment = {};       // "NAME=value"
    std::optional<pid_t> group = std::nullopt;       // to join; only if this process starts no other program
    std::optional<int> inherited_fd = std::nullopt;  // stays open in the program
    bool no_input = false;                           // its standard input is empty
    std::optional<int> output = std::nullopt;        // instead of this process's standard output
    std::optional<int> errors = std::nullopt;        // instead of its standard error
    std::optional<uint64_t> open_files = {};         // its soft limit, if different from this process's
    bool stopped = false;                            // before its first instruction, to attach a debugger
    sigset_t signal_mask = {};                       // of the program
  };

  /// Starts the program. Throws Error if it cannot be executed.
  ChildProcess(const Command& command, const Setup& setup);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Kills the process group if the program still runs.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  /// Whether it is in a process group with other processes. Signals to that group reach it without send_signal().
  bool joined_group() const { return joined_group_; }

  /// The wait status of the program (see waitpid(2)), or nothing while it runs. Does not block. The process id stays
  /// reserved for the lifetime of this object, so a signal cannot reach an unrelated process.
  std::optional<int> wait_status();

  /// Sends a signal to the program and the processes it has started.
  void send_signal(int number);

 private:
  pid_t pid_ = -1;
  bool joined_group_ = false;
  std::optional<int> wait_status_;
};

}  // namespace accelerate::launch
