#pragma once

// Runs a program, as a user would, and tells how it ended and what it wrote.

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/process/exit_status.h"
#include "tests/support/hang_limit.h"

namespace accelerate::tests {

/// A program that runs while the test goes on. Killed if it still runs when the object goes.
class Program {
 public:
  explicit Program(const std::vector<std::string>& command, const std::vector<EnvironmentVariable>& environment = {}) {
    output_ = temporary_file();
    errors_ = temporary_file();
    pid_ = fork();
    if (pid_ != 0) return;
    setpgid(0, 0);
    dup2(open(output_.c_str(), O_WRONLY | O_APPEND), STDOUT_FILENO);
    dup2(open(errors_.c_str(), O_WRONLY | O_APPEND), STDERR_FILENO);
    for (const auto& variable : environment) set_environment_variable(variable);
    std::vector<char*> arguments;
    for (const auto& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
    arguments.push_back(nullptr);
    execvp(arguments[0], arguments.data());
    _exit(127);
  }
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;
  ~Program() {
    if (!ended_) {
      kill(-pid_, SIGKILL);
      waitpid(pid_, nullptr, 0);
    }
    unlink(output_.c_str());
    unlink(errors_.c_str());
  }

  pid_t pid() const { return pid_; }
  std::string output() const { return text_of(output_); }
  std::string errors() const { return text_of(errors_); }
  void send_signal(int number) { kill(pid_, number); }

  /// The exit code, 128 + the signal for a program ended by one. Throws Error with what it wrote when it does not end
  /// in time.
  int wait(std::chrono::milliseconds limit = hang_limit()) {
    int status = 0;
    bool in_time = wait_until([&] { return waitpid(pid_, &status, WNOHANG) == pid_; }, limit);
    if (!in_time) fail("the program still runs after ", limit.count(), " ms; it wrote:\n", output(), errors());
    ended_ = true;
    return process::exit_code_of(status);
  }

  /// Waits until the program has written `text` to its output. Returns whether it did.
  bool writes(const std::string& text, std::chrono::milliseconds limit = hang_limit()) {
    return wait_until([&] { return output().find(text) != std::string::npos; }, limit);
  }

  template <class Condition>
  static bool wait_until(Condition condition, std::chrono::milliseconds limit) {
    auto until = std::chrono::steady_clock::now() + limit;
    while (!condition()) {
      if (std::chrono::steady_clock::now() > until) return false;
      std::this_thread::sleep_for(std::chrono::milliseconds(5));
    }
    return true;
  }

 private:
  static std::string temporary_file() {
    char path[] = "/tmp/program_output_XXXXXX";
    close(mkstemp(path));
    return path;
  }

  static std::string text_of(const std::string& path) {
    std::ifstream file(path);
    std::ostringstream text;
    text << file.rdbuf();
    return text.str();
  }

  pid_t pid_ = -1;
  bool ended_ = false;
  std::string output_;
  std::string errors_;
};

}  // namespace accelerate::tests
