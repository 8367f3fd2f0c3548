#pragma once

// The commands of `accelerate`: one function each, which parses its arguments, runs, and returns the exit code.

#include <functional>
#include <string>
#include <vector>

#include "cli/help_page.h"

namespace accelerate::cli {

/// `accelerate launch`: starts a program as the ranks of a job. The exit code is that of the first rank that failed.
/// Throws UsageError.
int launch_command(const std::vector<std::string>& arguments);

/// `accelerate config`: writes the configuration file, interactively or with defaults. Throws UsageError.
int config_command(const std::vector<std::string>& arguments);

/// `accelerate test`: tests the installation by running a small program under the launcher. Returns 0 if all checks
/// pass. Throws UsageError.
int test_command(const std::vector<std::string>& arguments);

/// `accelerate env`: prints a block about this machine to paste into an issue. Throws UsageError.
int env_command(const std::vector<std::string>& arguments);

/// `accelerate doctor`: checks a machine for common problems. Throws UsageError.
int doctor_command(const std::vector<std::string>& arguments);

/// `accelerate estimate-memory`: estimates the memory of a model from its files. Throws UsageError.
int estimate_memory_command(const std::vector<std::string>& arguments);

/// `accelerate merge-weights`: merges the shards of a model into one file, or splits it into shards. Throws UsageError.
int merge_weights_command(const std::vector<std::string>& arguments);

/// `accelerate to-fsdp2`: converts a configuration from FSDP version 1 to version 2. Throws UsageError.
int to_fsdp2_command(const std::vector<std::string>& arguments);

/// `accelerate notebook`: installs the C++ kernel for Jupyter. Throws UsageError, and Error if the headers cannot be
/// compiled.
int notebook_command(const std::vector<std::string>& arguments);

/// `accelerate tpu-config`: not supported; it sets up the machines of a TPU pod in Python. Throws UsageError.
int tpu_config_command(const std::vector<std::string>& arguments);

/// `accelerate completion`: prints a script with which a shell completes commands, flags and their values. Runs the
/// command for the commands that `help_pages` returns, and returns its exit code. `help_pages` is not called for
/// --help, because the pages are made from the output of --help. Throws UsageError.
int completion_command(const std::vector<std::string>& arguments,
                       const std::function<std::vector<HelpPage>()>& help_pages);

/// The script for bash. Like the others it is static: pressing Tab starts no program.
std::string bash_completion(const std::vector<HelpPage>& pages);

/// The script for zsh.
std::string zsh_completion(const std::vector<HelpPage>& pages);

/// The script for fish.
std::string fish_completion(const std::vector<HelpPage>& pages);

/// `accelerate man-pages`: writes the manual pages, from the texts that --help prints. Runs the command for the
/// commands that `help_pages` returns, and returns its exit code. `help_pages` is not called for --help, because the
/// pages are made from the output of --help. Throws UsageError.
int man_pages_command(const std::vector<std::string>& arguments, const std::string& summary,
                      const std::function<std::vector<HelpPage>()>& help_pages);

/// The manual page of one command, accelerate-<command>(1), in man(7) format.
std::string man_page(const HelpPage& page);

}  // namespace accelerate::cli
