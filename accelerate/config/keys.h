#pragma once

// The keys of a configuration file: what each is called, means, and can be. Reading, writing, the questionnaire's
// `--set` and the published schema all follow this one table.

#include <limits>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "accelerate/config/launch_config.h"

namespace accelerate::config {

/// The member of LaunchConfig that holds a key; its type is the key's.
using Member = std::variant<std::optional<bool> LaunchConfig::*, std::optional<int64_t> LaunchConfig::*,
                            std::optional<std::string> LaunchConfig::*,
                            std::optional<std::vector<std::string>> LaunchConfig::*, Section LaunchConfig::*>;

/// A key of the file.
struct Key {
  std::string name;
  Member member;
  std::string meaning;                    // half a sentence
  std::vector<std::string> choices = {};  // of a text; of a section the keys known inside it; empty: any
  int64_t minimum = std::numeric_limits<int64_t>::min();
  int64_t maximum = std::numeric_limits<int64_t>::max();
};

/// All keys, in the order in which Python Accelerate lists them.
const std::vector<Key>& keys();

/// The key of this name, or null.
const Key* find_key(std::string_view name);

}  // namespace accelerate::config
