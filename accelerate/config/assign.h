#pragma once

// Giving a key of the configuration the value that a file or a command line says.

#include <string>

#include "accelerate/config/document.h"
#include "accelerate/config/keys.h"

namespace accelerate::config {

/// A value that a key cannot have. The message is half a sentence that begins with the key; the place is apart.
class ValueError : public Error {
 public:
  ValueError(const Position& position, const std::string& message) : Error(message), position(position) {}
  Position position;
};

/// Gives `key` the value of `node`; null takes its value away. Throws ValueError when it is of the wrong type, none of
/// the choices, or out of range.
void assign(LaunchConfig& config, const Key& key, const DocumentNode& node);

/// Does what `assignment` says: "key=value", or "section.key=value". A list is written with commas, null takes the key
/// away. Throws ConfigError naming the assignment.
void assign_text(LaunchConfig& config, const std::string& assignment);

/// "unknown key 'x'" and what to do about it.
std::string unknown_key_message(const std::string& name);

}  // namespace accelerate::config
