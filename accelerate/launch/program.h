#pragma once

// Finds the file to run for a program that the user names.

#include <string>
#include <vector>

namespace accelerate::launch {

struct Command {
  std::string path;                    // of the file to execute
  std::vector<std::string> arguments;  // the first is the name of the program
};

/// How to interpret the name.
struct ProgramKind {
  bool module = false;     // the name of a Python module
  bool no_python = false;  // executed directly, whatever its extension
};

/// The command for `program`: a path, a name in `search_path` (the value of PATH), or a file in the current directory,
/// in this order. A module or a .py file runs with the python3 found in `search_path`, which is the one of the active
/// virtual environment. Throws Error if there is nothing to run.
Command find_command(const std::string& program, const std::vector<std::string>& arguments,
                     const std::string& search_path, const ProgramKind& kind = {});

}  // namespace accelerate::launch
