#pragma once

// The flags of `accelerate launch`: one table, from which the command line, the environment variables, the
// configuration file and --show_config are read.

#include <string>
#include <string_view>
#include <vector>

namespace accelerate::launch {

enum class FlagKind { Switch, Integer, Seconds, Text };

struct LaunchFlag {
  std::string name;  // without dashes
  FlagKind kind = FlagKind::Text;
  std::string help = {};                  // without one the flag is left out of the help text
  std::string fallback = {};              // what holds when nobody says anything; empty: nothing
  std::vector<std::string> choices = {};  // all values there are, of a switch besides yes and no; empty: any
  std::string letter = {};                // for short
  std::string own_variable = {};          // where the library already has a name for it
  std::string group = {};                 // heading in the help text

  /// The environment variable that gives the value when the flag is not there: ACCELERATE_ and the name.
  std::string variable() const;
};

/// In the order of the help text.
const std::vector<LaunchFlag>& launch_flags();

/// The flag with that name, or null.
const LaunchFlag* find_launch_flag(std::string_view name);

/// Why a flag of Python's launcher does nothing here: a sentence that follows the name of the flag. Empty for a flag
/// that works, and for one that nobody knows.
std::string why_not_here(std::string_view name);

}  // namespace accelerate::launch
