#pragma once

// The keys of a configuration file, with their names, meanings and valid values. Reading, writing, `--set` and the
// published schema all use this table.

#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "accelerate/config/launch_config.h"

namespace accelerate::config {

/// The member of LaunchConfig for a key. Its type is the type of the key.
using Member = std::variant<std::optional<bool> LaunchConfig::*, std::optional<int64_t> LaunchConfig::*,
                            std::optional<std::string> LaunchConfig::*,
                            std::optional<std::vector<std::string>> LaunchConfig::*, Section LaunchConfig::*>;

/// A key of the file.
struct Key {
  std::string name;
  Member member;
  std::string meaning;                    // a phrase, the description in the schema
  std::vector<std::string> choices = {};  // for a text; for a section its known keys; empty: any
  int64_t minimum = std::numeric_limits<int64_t>::min();
  int64_t maximum = std::numeric_limits<int64_t>::max();
};

/// All keys, in the order of Python's Accelerate.
const std::vector<Key>& keys();

/// The key of this name, or null.
const Key* find_key(std::string_view name);

}  // namespace accelerate::config
