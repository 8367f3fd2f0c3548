#pragma once

// accelerate man-pages: writes the manual pages, from the texts that --help prints.

#include <functional>
#include <string>
#include <vector>

#include "cli/help_page.h"

namespace accelerate::cli {

/// Runs the command for the commands that `help_pages` returns, and returns its exit code. It is not called for --help,
/// which those pages are made of. Throws UsageError.
int man_pages_command(const std::vector<std::string>& arguments, const std::string& summary,
                      const std::function<std::vector<HelpPage>()>& help_pages);

/// The page of one command, accelerate-<command>(1), in the language of man.
std::string man_page(const HelpPage& page);

}  // namespace accelerate::cli
