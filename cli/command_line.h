#pragma once

// Parses command lines, for all commands.

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "accelerate/base/error.h"

namespace accelerate::cli {

/// An invalid command line: exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A command line split in two: the flags of the command, and the program that follows with its arguments.
struct SplitCommandLine {
  std::vector<std::string> flags;    // "--name=value" or "--name"
  std::vector<std::string> program;  // the first word that is not a flag, and everything after it
};

/// Explains why a command does not have a flag (given without dashes); empty if there is no explanation.
using ExplainFlag = std::function<std::string(const std::string& name)>;

/// Splits `arguments` at the first word that is neither a flag of `app` nor the value of one, or at "--". Flags may
/// have '-' or '_' between words. Throws UsageError for an unknown flag, with the explanation, or else the nearest
/// known flag.
SplitCommandLine split_at_program(const CLI::App& app, const std::vector<std::string>& arguments,
                                  const ExplainFlag& explain = {});

/// Parses the arguments into the variables that `app` is bound to. If the user asked for help, prints it and returns
/// false. Throws UsageError for invalid arguments, naming the nearest known flag.
bool parse_arguments(CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace accelerate::cli
