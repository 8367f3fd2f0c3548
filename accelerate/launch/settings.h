#pragma once

// The value of every flag and where it comes from. The command line comes before the environment, that before what the
// cluster says, then the configuration file, then the defaults.

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/config/launch_config.h"
#include "accelerate/launch/launch_flags.h"

namespace accelerate::launch {

struct Setting {
  std::string value = {};
  std::string origin = {};  // "--cpu", "ACCELERATE_USE_CPU", "default_config.yaml:3", "SLURM_NNODES" or "default"
};

/// Settings by the name of their flag.
using SettingMap = std::map<std::string, Setting>;

class Settings {
 public:
  /// Earlier `sources` win; defaults fill what is left. Throws Error naming the origin when a value is not of its
  /// flag's kind or not among its choices.
  explicit Settings(const std::vector<SettingMap>& sources);

  bool is_on(const std::string& name) const;
  const std::string& text(const std::string& name) const;
  /// Nothing when nobody gave a value and there is no default.
  std::optional<int> integer(const std::string& name) const;
  double seconds(const std::string& name) const;
  /// Whether the value comes from the user rather than from the table of defaults.
  bool is_given(const std::string& name) const;
  /// Whether it comes from a configuration file.
  bool is_from_file(const std::string& name) const;
  /// The setting as the user knows it: by its flag, its variable, or its place in a file.
  std::string given_as(const std::string& name) const;

  /// The value and its origin; both empty when nobody gave one and there is no default.
  const Setting& at(const std::string& name) const;

 private:
  SettingMap settings_;
};

/// What the environment variables of the flags say.
SettingMap settings_of_environment();

/// What a configuration file says, under the names of the flags. Throws Error for a kind of job that is none of ours.
SettingMap settings_of_config(const config::LaunchConfig& config);

}  // namespace accelerate::launch
