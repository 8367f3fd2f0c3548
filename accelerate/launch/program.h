#pragma once

// Which file to run when a user names a program.

#include <string>
#include <vector>

namespace accelerate::launch {

struct Command {
  std::string path;                    // of the file to execute
  std::vector<std::string> arguments;  // the first is the name of the program
};

/// The ways in which a name is turned into a command.
struct ProgramKind {
  bool module = false;     // the name of a Python module
  bool no_python = false;  // executed itself, whatever its name ends in
};

/// The command for `program`: a path, a name in `search_path` (the value of PATH), or else a file of the current
/// directory. A module, and a file that ends in .py, is run by the python3 of `search_path`, that of the active virtual
/// environment. Throws Error when there is nothing to run.
Command find_command(const std::string& program, const std::vector<std::string>& arguments,
                     const std::string& search_path, const ProgramKind& kind = {});

}  // namespace accelerate::launch
