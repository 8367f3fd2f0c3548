#include "cli/prompt.h"

#include <algorithm>
#include <charconv>
#include <iostream>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "cli/prompt.h"

namespace accelerate::cli {

namespace {

std::optional<int64_t> parse_integer(const std::string& text) {
  int64_t number = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return number;
}

std::string trim(const std::string& text) {
  auto begin = text.find_first_not_of(" \t\r");
  if (begin == std::string::npos) return "";
  return text.substr(begin, text.find_last_not_of(" \t\r") - begin + 1);
}

/// The option with this number or this text.
std::optional<size_t> option_of(const std::string& answer, const std::vector<std::string>& options) {
  auto number = parse_integer(answer);
  if (number && *number >= 0 && *number < static_cast<int64_t>(options.size())) return *number;
  auto found = std::find(options.begin(), options.end(), answer);
  if (found == options.end()) return std::nullopt;
  return found - options.begin();
}

}  // namespace

bool Prompt::ask_yes_no(const std::string& question, bool preset) {
  while (true) {
    auto answer = ask(question + " (yes/no)", preset ? "yes" : "no");
    try {
      return parse_flag(answer);
    } catch (const Error&) {
      say("'" + answer + "' is neither yes nor no.");
    }
  }
}

int64_t Prompt::ask_integer(const std::string& question, std::optional<int64_t> preset, int64_t minimum,
                            int64_t maximum) {
  while (true) {
    auto answer = ask(question, preset ? std::to_string(*preset) : "");
    auto number = parse_integer(answer);
    if (number && *number >= minimum && *number <= maximum) return *number;
    say("'" + answer + "' is not a whole number from " + std::to_string(minimum) + " to " + std::to_string(maximum) +
        ".");
  }
}

size_t ConsolePrompt::choose(const std::string& question, const std::vector<std::string>& options, size_t preset) {
  if (can_draw_menus()) return draw_menu(question, options, preset);
  std::cout << question << "\n";
  for (size_t i = 0; i < options.size(); ++i) std::cout << "  " << i << ") " << options[i] << "\n";
  while (true) {
    auto answer = ask("Number", std::to_string(preset));
    if (auto option = option_of(answer, options)) return *option;
    say("'" + answer + "' is not an option; type a number from 0 to " + std::to_string(options.size() - 1) + ".");
  }
}

std::string ConsolePrompt::ask(const std::string& question, const std::string& preset) {
  std::cout << question << (preset.empty() ? "" : " [" + preset + "]") << ": " << std::flush;
  std::string answer;
  if (!std::getline(std::cin, answer)) {
    std::cout << std::endl;
    fail("the input ended at the question '", question, "'; use --non_interactive to ask nothing");
  }
  answer = trim(answer);
  return answer.empty() ? preset : answer;
}

void ConsolePrompt::say(const std::string& sentence) { std::cout << sentence << std::endl; }

}  // namespace accelerate::cli
