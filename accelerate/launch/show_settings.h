#pragma once

// What --show_config prints: the settings of a job and where each comes from.

#include <string>

#include "accelerate/launch/settings.h"

namespace accelerate::launch {

struct ShowOptions {
  std::string program = {};  // as on the command line; empty when none was named
  int gpus = 0;              // of this machine
  bool all = false;          // also what cannot make a difference to the program
};

/// A line for each value with its origin, as YAML with comments, under the headings of the help text. Left out are
/// defaults that cannot make a difference: those of GPUs on a machine without, of several machines when there is one,
/// and of Python's libraries for other programs. What somebody has given is always there.
std::string show_settings(const Settings& settings, const ShowOptions& options);

}  // namespace accelerate::launch
