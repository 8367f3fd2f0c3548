#include "cli/command_line.h"

#include <algorithm>
#include <iostream>

#include "accelerate/base/text.h"

namespace accelerate::cli {

namespace {

std::vector<std::string> flag_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const auto* option : app.get_options()) {
    for (const auto& name : option->get_lnames()) names.push_back("--" + name);
  }
  return names;
}

/// A word of the command line that starts with '-', split into name and value.
struct Flag {
  std::string name;  // with its dashes
  bool has_value = false;
  std::string value;
};

Flag parse_flag_word(const std::string& word) {
  if (!word.starts_with("--")) {
    auto glued = word.substr(std::min<size_t>(2, word.size()));  // the value in "-n2" or "-n=2"
    return {word.substr(0, 2), !glued.empty(), glued.starts_with("=") ? glued.substr(1) : glued};
  }
  auto equals = word.find('=');
  Flag flag{word.substr(0, equals), equals != std::string::npos, ""};
  if (flag.has_value) flag.value = word.substr(equals + 1);
  std::replace(flag.name.begin() + 2, flag.name.end(), '-', '_');
  return flag;
}

/// The arguments with flags in the spelling that CLI11 knows.
std::vector<std::string> with_known_flags(const CLI::App& app, const std::vector<std::string>& arguments) {
  std::vector<std::string> words;
  auto rest = arguments;
  while (!rest.empty()) {
    auto line = split_at_program(app, rest);
    words.insert(words.end(), line.flags.begin(), line.flags.end());
    auto word = line.program.begin();
    while (word != line.program.end() && !word->starts_with("-")) words.push_back(*word++);
    rest.assign(word, line.program.end());
  }
  return words;
}

}  // namespace

SplitCommandLine split_at_program(const CLI::App& app, const std::vector<std::string>& arguments,
                                  const ExplainFlag& explain) {
  SplitCommandLine line;
  auto word = arguments.begin();
  for (; word != arguments.end() && word->starts_with("-") && *word != "--"; ++word) {
    auto flag = parse_flag_word(*word);
    const auto* option = app.get_option_no_throw(flag.name);
    if (option == nullptr) {
      auto reason = explain && flag.name.starts_with("--") ? explain(flag.name.substr(2)) : "";
      // The value stays out of the message: it may be a secret.
      if (!reason.empty()) throw UsageError(flag.name + " " + reason);
      auto nearest = nearest_name(flag.name, flag_names(app));
      throw UsageError("unknown flag " + flag.name +
                       (nearest.empty() ? "; --help lists them all" : "; did you mean " + nearest + "?"));
    }
    bool takes_value = option->get_expected_min() > 0;
    if (takes_value && !flag.has_value) {
      if (std::next(word) == arguments.end()) throw UsageError(flag.name + " needs a value");
      flag.has_value = true;
      flag.value = *++word;
    }
    auto name = "--" + option->get_lnames().front();
    line.flags.push_back(flag.has_value ? name + "=" + flag.value : name);
  }
  if (word != arguments.end() && *word == "--") ++word;
  line.program.assign(word, arguments.end());
  return line;
}

bool parse_arguments(CLI::App& app, const std::vector<std::string>& arguments) {
  app.get_formatter()->column_width(40);
  auto words = with_known_flags(app, arguments);
  std::reverse(words.begin(), words.end());  // as CLI11 takes them
  try {
    app.parse(std::move(words));
    return true;
  } catch (const CLI::CallForHelp&) {
    std::cout << app.help();
    return false;
  } catch (const CLI::ParseError& error) {
    throw UsageError(error.what());
  }
}

}  // namespace accelerate::cli
