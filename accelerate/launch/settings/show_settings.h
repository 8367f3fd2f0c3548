#pragma once

// The output of --show_config: the settings of a job and the origin of each.

#include <string>

#include "accelerate/launch/settings/settings.h"

namespace accelerate::launch {

struct ShowOptions {
  std::string program = {};  // as on the command line; empty if none
  int gpus = 0;              // of this machine
  bool all = false;          // also settings that do not affect the program
};

/// Returns YAML with one line per value, its origin as a comment, under the headings of the help text. Omits defaults
/// that have no effect: GPU settings without GPUs, multi-machine settings on one machine, and settings of Python's
/// libraries for other programs. Given values are always shown.
std::string show_settings(const Settings& settings, const ShowOptions& options);

}  // namespace accelerate::launch
