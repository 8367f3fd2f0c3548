#pragma once

// A terminal with a person in front of it.

#include <chrono>
#include <filesystem>
#include <string>
#include <vector>

#include "tests/cli/command_run.h"

namespace accelerate::tests {

/// A terminal of 100 columns, 40 lines unless told, with a program in it.
class Terminal {
 public:
  Terminal(const std::filesystem::path& directory, const std::string& command, int lines = 40)
      : socket_((directory / "tmux").string()) {
    tmux({"-f", "/dev/null", "new-session", "-d", "-x", "100", "-y", std::to_string(lines),
          command + "; echo ended with $?; sleep 60"});
  }
  Terminal(const Terminal&) = delete;
  Terminal& operator=(const Terminal&) = delete;
  ~Terminal() { tmux({"kill-server"}); }

  void press(const std::vector<std::string>& keys) {
    std::vector<std::string> words = {"send-keys"};
    words.insert(words.end(), keys.begin(), keys.end());
    tmux(words);
  }

  std::string screen() { return tmux({"capture-pane", "-p"}); }

  /// Waits until the screen shows the text.
  bool shows(const std::string& text) {
    return Program::wait_until([&] { return screen().find(text) != std::string::npos; }, std::chrono::seconds(20));
  }

 private:
  std::string tmux(std::vector<std::string> words) {
    words.insert(words.begin(), {"tmux", "-S", socket_});
    return run(words, {{"TERM", "xterm"}, {"TMUX", std::nullopt}}).output;
  }

  std::string socket_;
};

}  // namespace accelerate::tests
