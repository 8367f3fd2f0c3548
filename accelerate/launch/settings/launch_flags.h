#pragma once

// The flags of `accelerate launch`, in one table. The command line, the environment variables, the configuration file
// and --show_config all use it.

#include <string>
#include <string_view>
#include <vector>

namespace accelerate::launch {

enum class FlagKind { Switch, Integer, Seconds, Text };

struct LaunchFlag {
  std::string name;  // without dashes
  FlagKind kind = FlagKind::Text;
  std::string help = {};                  // if empty, the flag is not in the help text
  std::string fallback = {};              // the default; empty: none
  std::vector<std::string> choices = {};  // the valid values, in addition to yes and no for a switch; empty: any
  std::string letter = {};                // short form
  std::string own_variable = {};          // if the library already has another name for the variable
  std::string group = {};                 // heading in the help text

  /// The environment variable that is used if the flag is not given: ACCELERATE_ and the name by default.
  std::string variable() const;
};

/// In the order of the help text.
const std::vector<LaunchFlag>& launch_flags();

/// The flag with that name, or null.
const LaunchFlag* find_launch_flag(std::string_view name);

/// Why a flag of Python's launcher has no effect here: a sentence that follows the name of the flag. Empty for
/// supported and for unknown flags.
std::string why_not_here(std::string_view name);

}  // namespace accelerate::launch
