#pragma once

// Assigns values from a file or a command line to keys of the configuration.

#include <string>

#include "accelerate/config/document.h"
#include "accelerate/config/keys.h"

namespace accelerate::config {

/// An invalid value for a key. The message begins with the key and does not contain the position.
class ValueError : public Error {
 public:
  ValueError(const Position& position, const std::string& message) : Error(message), position(position) {}
  Position position;
};

/// Assigns the value of `node` to `key`; null clears it. Throws ValueError if the value has the wrong type, is not one
/// of the choices, or is out of range.
void assign(LaunchConfig& config, const Key& key, const DocumentNode& node);

/// Parses and applies "key=value" or "section.key=value". Lists are separated by commas; null clears the key. Throws
/// ConfigError naming the assignment.
void assign_text(LaunchConfig& config, const std::string& assignment);

/// "unknown key 'x'" and the remedy.
std::string unknown_key_message(const std::string& name);

}  // namespace accelerate::config
