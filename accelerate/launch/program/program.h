#pragma once

// Finds the file to run for a program that the user names, and the files that belong to this command.

#include <filesystem>
#include <string>
#include <vector>

#include "accelerate/process/child_process.h"

namespace accelerate::launch {

/// How to interpret the name.
struct ProgramKind {
  bool module = false;     // the name of a Python module
  bool no_python = false;  // executed directly, whatever its extension
};

/// The command for `program`: a path, a name in `search_path` (the value of PATH), or a file in the current directory,
/// in this order. A module or a .py file runs with the python3 found in `search_path`, which is the one of the active
/// virtual environment. Throws Error if there is nothing to run.
process::Command find_command(const std::string& program, const std::vector<std::string>& arguments,
                              const std::string& search_path, const ProgramKind& kind = {});

/// The parent of the directory that contains the running command, in an installation or a build directory.
std::filesystem::path own_prefix();

/// The path of a helper program that does work which needs libtorch. The file does not exist if the command was built
/// without libtorch.
std::filesystem::path helper_program(const std::string& name);

}  // namespace accelerate::launch
