#pragma once

// Interactive prompts: the user chooses an option, enters text or a number, or answers yes or no.

#include <optional>
#include <string>
#include <vector>

namespace accelerate::cli {

/// The interface of prompts. The questionnaire does not depend on a terminal.
class Prompt {
 public:
  virtual ~Prompt() = default;

  /// Returns the index of the chosen option.
  virtual size_t choose(const std::string& question, const std::vector<std::string>& options, size_t preset = 0) = 0;

  /// Returns a line of text; `preset` if it is empty.
  virtual std::string ask(const std::string& question, const std::string& preset = "") = 0;

  /// Prints a message that needs no answer.
  virtual void say(const std::string& sentence) = 0;

  /// Asks until the answer is yes or no.
  bool ask_yes_no(const std::string& question, bool preset);

  /// Asks until the answer is a whole number from `minimum` to `maximum`. Without a preset the user must enter one.
  int64_t ask_integer(const std::string& question, std::optional<int64_t> preset, int64_t minimum,
                      int64_t maximum = 1'000'000'000);
};

/// Prompts on standard output and reads answers from standard input. On a terminal it shows menus with arrow keys and
/// numbers, otherwise numbered lists. Throws Error if the input ends before an answer; the message names the question.
class ConsolePrompt : public Prompt {
 public:
  size_t choose(const std::string& question, const std::vector<std::string>& options, size_t preset) override;
  std::string ask(const std::string& question, const std::string& preset) override;
  void say(const std::string& sentence) override;
};

/// Whether standard input and output are a terminal that can move its cursor.
bool can_draw_menus();

/// Draws the menu, waits for an answer, replaces the menu by one line with it, and returns the index of the option.
/// Ctrl-C ends the program as usual. Throws Error if the input ends.
size_t draw_menu(const std::string& question, const std::vector<std::string>& options, size_t preset);

}  // namespace accelerate::cli
