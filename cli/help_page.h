#pragma once

// Parses the help of a command. Completion scripts and manual pages are generated from the output of --help, so that
// the three never differ.

#include <functional>
#include <string>
#include <vector>

namespace accelerate::cli {

/// A flag or positional argument of a command.
struct HelpEntry {
  std::vector<std::string> names;    // "-n" and "--num_processes", or the name of a positional argument
  std::string value;                 // its type, "INT" or "{no,fp16}"; empty for a flag without a value
  std::vector<std::string> choices;  // its allowed values, if the help lists them
  std::string meaning;

  bool is_flag() const { return names.front().starts_with("-"); }
};

/// The parsed output of --help for a command.
struct HelpPage {
  std::string command;  // "launch"
  std::string summary;  // as in the list of commands
  std::string purpose;  // the sentences around the flags
  std::string usage;
  std::vector<HelpEntry> entries;
};

/// Parses the output of --help.
HelpPage parse_help(const std::string& command, const std::string& summary, const std::string& text);

/// Returns the output of `body` to std::cout.
std::string captured_output(const std::function<void()>& body);

}  // namespace accelerate::cli
