#pragma once

// Writing a configuration file that Python's Accelerate reads as its own.

#include <filesystem>
#include <string>

#include "accelerate/config/launch_config.h"

namespace accelerate::config {

/// The configuration as YAML: the keys that are given, sorted.
std::string to_yaml(const LaunchConfig& config);

/// The same as JSON.
std::string to_json(const LaunchConfig& config);

/// Writes JSON when the name ends in .json, YAML otherwise, and makes the directories above. The file is replaced as a
/// whole or not at all. Throws Error naming the path and the reason.
void write_launch_config(const LaunchConfig& config, const std::filesystem::path& path);

}  // namespace accelerate::config
