#pragma once

// Runs programs as child processes: supervised ones that never outlive this process, and short ones for their output.

#include <signal.h>
#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace accelerate::process {

struct Command {
  std::string path;                    // of the file to execute
  std::vector<std::string> arguments;  // the first is the name of the program
};

/// A child process. It leads its own process group unless it joins another, and it never outlives this process, however
/// this process ends.
class ChildProcess {
 public:
  struct Setup {
    std::vector<std::string> environment = {};       // "NAME=value"
    std::optional<pid_t> group = std::nullopt;       // to join; only for an only child, see send_signal()
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

  /// Sends a signal to the process group of the program. If it joined another group, sends it to all descendants of
  /// this process instead.
  void send_signal(int number);

 private:
  pid_t pid_ = -1;
  bool joined_group_ = false;
  std::optional<int> wait_status_;
};

struct Captured {
  int exit_code = 127;      // also 127 if the program cannot be started
  std::string output = {};  // what it wrote to standard output
};

/// Runs `words[0]`, found in PATH, and waits for its end. Does not use a shell. Its standard error is discarded if
/// `silent`, otherwise inherited.
Captured run_and_capture(const std::vector<std::string>& words, bool silent = true);

}  // namespace accelerate::process
