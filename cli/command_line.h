#pragma once

// What all commands do with their command line.

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "accelerate/base/error.h"

namespace accelerate::cli {

/// A command line that cannot be understood: exit code 2.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A command line cut in two: the flags of the command itself, and the program that follows with its own.
struct SplitCommandLine {
  std::vector<std::string> flags;    // "--name=value" or "--name"
  std::vector<std::string> program;  // the first word that is no flag, and everything after it
};

/// Why a flag (without its dashes) that a command does not have is not there; empty when there is nothing to say.
using ExplainFlag = std::function<std::string(const std::string& name)>;

/// Cuts `arguments` at the first word that is neither a flag of `app` nor the value of one, or at "--". In flags '-'
/// and '_' are the same. Throws UsageError for an unknown flag, with the explanation or else the nearest known one.
SplitCommandLine split_at_program(const CLI::App& app, const std::vector<std::string>& arguments,
                                  const ExplainFlag& explain = {});

/// Parses the arguments into what `app` is bound to. Returns false when the user asked for help, which has then been
/// printed. Throws UsageError for what cannot be understood, naming the nearest known flag.
bool parse_arguments(CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace accelerate::cli
