#pragma once

// The value of every flag and its origin. In order of precedence: command line, environment, cluster (Slurm),
// configuration file, defaults.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/config/launch_config.h"
#include "accelerate/launch/settings/launch_flags.h"

namespace accelerate::launch {

struct Setting {
  std::string value = {};
  std::string origin = {};  // "--cpu", "ACCELERATE_USE_CPU", "default_config.yaml:3", "SLURM_NNODES" or "default"
};

/// Settings by flag name.
using SettingMap = std::map<std::string, Setting>;

class Settings {
 public:
  /// Earlier `sources` take precedence; defaults fill the rest. Throws Error naming the origin if a value does not have
  /// its flag's kind or is not one of its choices.
  explicit Settings(const std::vector<SettingMap>& sources);

  bool is_on(const std::string& name) const;
  const std::string& text(const std::string& name) const;
  /// Nothing if no value was given and there is no default.
  std::optional<int> integer(const std::string& name) const;
  double seconds(const std::string& name) const;
  /// Whether the value was given, as opposed to a default.
  bool is_given(const std::string& name) const;
  /// Whether it comes from a configuration file.
  bool is_from_file(const std::string& name) const;
  /// The name of the setting as the user gave it: its flag, its variable, or its line in a file.
  std::string given_as(const std::string& name) const;

  /// The value and its origin. Both are empty if no value was given and there is no default.
  const Setting& at(const std::string& name) const;

 private:
  SettingMap settings_;
};

/// Settings from the environment variables of the flags.
SettingMap settings_of_environment();

/// Settings from a configuration file, by flag name. Throws Error for an unsupported kind of job.
SettingMap settings_of_config(const config::LaunchConfig& config);

}  // namespace accelerate::launch
