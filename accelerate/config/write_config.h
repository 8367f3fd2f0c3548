#pragma once

// Writes configuration files that Python's Accelerate can read, and the JSON schema of such files.

#include <filesystem>
#include <string>

#include "accelerate/config/launch_config.h"

namespace accelerate::config {

/// The configuration as YAML: the given keys, sorted.
std::string to_yaml(const LaunchConfig& config);

/// The same as JSON.
std::string to_json(const LaunchConfig& config);

/// Writes JSON if the name ends in .json, otherwise YAML. Creates the parent directories and replaces the file
/// atomically. Throws Error naming the path and the reason.
void write_launch_config(const LaunchConfig& config, const std::filesystem::path& path);

/// The schema (draft 07) as JSON, generated from the table of keys.
std::string config_schema();

}  // namespace accelerate::config
