#include "cli/parse_arguments.h"

#include <algorithm>
#include <iostream>

#include "cli/command_line.h"

namespace accelerate::cli {

namespace {

/// The arguments with their flags as CLI11 knows them.
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
