#pragma once

// The help of a command, taken apart again: completion scripts and manual pages are made of the text that --help
// prints, so that the three never differ.

#include <functional>
#include <string>
#include <vector>

namespace accelerate::cli {

/// A flag or a word that a command takes.
struct HelpEntry {
  std::vector<std::string> names;    // "-n" and "--num_processes", or the name of a word
  std::string value;                 // what follows it, "INT" or "{no,fp16}"; empty for a plain flag
  std::vector<std::string> choices;  // the values it can have, where the help lists them
  std::string meaning;

  bool is_flag() const { return names.front().starts_with("-"); }
};

/// What --help says about a command.
struct HelpPage {
  std::string command;  // "launch"
  std::string summary;  // as in the list of commands
  std::string purpose;  // the sentences around the flags
  std::string usage;
  std::vector<HelpEntry> entries;
};

/// Takes the text apart.
HelpPage parse_help(const std::string& command, const std::string& summary, const std::string& text);

/// What `body` writes to std::cout.
std::string captured_output(const std::function<void()>& body);

}  // namespace accelerate::cli
