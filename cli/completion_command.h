#pragma once

// accelerate completion: prints a script with which a shell completes commands, flags and their values.

#include <functional>
#include <string>
#include <vector>

#include "cli/help_page.h"

namespace accelerate::cli {

/// Runs the command for the commands that `help_pages` returns, and returns its exit code. It is not called for --help,
/// which those pages are made of. Throws UsageError.
int completion_command(const std::vector<std::string>& arguments,
                       const std::function<std::vector<HelpPage>()>& help_pages);

/// The script for bash. Like the others it is static: pressing Tab starts no program.
std::string bash_completion(const std::vector<HelpPage>& pages);

/// The script for zsh.
std::string zsh_completion(const std::vector<HelpPage>& pages);

/// The script for fish.
std::string fish_completion(const std::vector<HelpPage>& pages);

}  // namespace accelerate::cli
