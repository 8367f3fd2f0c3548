#pragma once

// Which file to run when a user names a program.

#include <string>
#include <vector>

#include "accelerate/base/error.h"

namespace accelerate::launch {

/// A program that cannot be run, with the exit code that shells use: 127 when it is not found, 126 when it is no
/// program.
class ProgramError : public Error {
 public:
  ProgramError(const std::string& message, int exit_code) : Error(message), exit_code_(exit_code) {}
  int exit_code() const { return exit_code_; }

 private:
  int exit_code_;
};

struct Command {
  std::string path;                    // of the file to execute
  std::vector<std::string> arguments;  // the first is the name of the program
};

/// The command for `program`: a path, a name in `search_path` (the value of PATH), or else a file of the current
/// directory. A file that ends in .py is run by python3. Throws ProgramError when there is nothing to run.
Command find_command(const std::string& program, const std::vector<std::string>& arguments,
                     const std::string& search_path);

}  // namespace accelerate::launch
