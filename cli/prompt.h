#pragma once

// Asking a person: a question is answered by a choice, a text, a number, or yes or no.

#include <optional>
#include <string>
#include <vector>

namespace accelerate::cli {

/// Someone who answers. What is asked does not know whether there is a terminal.
class Prompt {
 public:
  virtual ~Prompt() = default;

  /// The index of the option that was chosen.
  virtual size_t choose(const std::string& question, const std::vector<std::string>& options, size_t preset = 0) = 0;

  /// A line of text; an empty one gives `preset`.
  virtual std::string ask(const std::string& question, const std::string& preset = "") = 0;

  /// Something that needs no answer.
  virtual void say(const std::string& sentence) = 0;

  /// Asks until the answer is yes or no.
  bool ask_yes_no(const std::string& question, bool preset);

  /// Asks until the answer is a whole number from `minimum` to `maximum`. Without a preset one has to be given.
  int64_t ask_integer(const std::string& question, std::optional<int64_t> preset, int64_t minimum,
                      int64_t maximum = 1'000'000'000);
};

/// Questions on standard output, answers from standard input: menus with arrow keys and numbers on a terminal, numbered
/// lists without one. Throws Error naming the question when the input ends before its answer.
class ConsolePrompt : public Prompt {
 public:
  size_t choose(const std::string& question, const std::vector<std::string>& options, size_t preset) override;
  std::string ask(const std::string& question, const std::string& preset) override;
  void say(const std::string& sentence) override;
};

/// Whether standard input and output are a terminal that can move its cursor.
bool can_draw_menus();

/// Draws the menu, waits for an answer, leaves one line with it behind, and returns the index of the option. Ctrl-C
/// ends the program as it does elsewhere. Throws Error when the input ends.
size_t draw_menu(const std::string& question, const std::vector<std::string>& options, size_t preset);

}  // namespace accelerate::cli
