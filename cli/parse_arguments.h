#pragma once

// Reading the arguments of a command that has words and flags in any order.

#include <string>
#include <vector>

#include <CLI/CLI.hpp>

namespace accelerate::cli {

/// Parses the arguments into what `app` is bound to. Returns false when the user asked for help, which has then been
/// printed. Throws UsageError for what cannot be understood, naming the nearest known flag.
bool parse_arguments(CLI::App& app, const std::vector<std::string>& arguments);

}  // namespace accelerate::cli
