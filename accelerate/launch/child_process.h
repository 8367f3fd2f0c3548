#pragma once

// One started program. It leads a process group of its own, unless it is to join another, and does not outlive this
// process, however this one ends.

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
    std::optional<pid_t> group = std::nullopt;       // to join, if this process starts no other program
    std::optional<int> inherited_fd = std::nullopt;  // stays open in the program
    bool no_input = false;                           // its standard input is empty
    std::optional<int> output = std::nullopt;        // instead of this process's standard output
    std::optional<int> errors = std::nullopt;        // instead of its standard error
    std::optional<uint64_t> open_files = {};         // its soft limit on them, if not this process's
    bool stopped = false;                            // before its first instruction, for a debugger
    sigset_t signal_mask = {};                       // of the program
  };

  /// Starts the program. Throws Error when it cannot be executed.
  ChildProcess(const Command& command, const Setup& setup);
  ChildProcess(const ChildProcess&) = delete;
  ChildProcess& operator=(const ChildProcess&) = delete;
  /// Kills what is left of the process group if the program itself still runs.
  ~ChildProcess();

  pid_t pid() const { return pid_; }
  /// Whether it is in a group that others are in, too: signals to that group reach it by themselves.
  bool joined_group() const { return joined_group_; }

  /// How the program ended (as waitpid tells it), or nothing while it runs. Does not wait. The process id stays taken
  /// until this object goes, so that signals reach no stranger.
  std::optional<int> wait_status();

  /// To the program and the processes it has started.
  void send_signal(int number);

 private:
  pid_t pid_ = -1;
  bool joined_group_ = false;
  std::optional<int> wait_status_;
};

}  // namespace accelerate::launch
