#pragma once

// The JSON schema of a configuration file, for editors and other programs.

#include <string>

namespace accelerate::config {

/// The schema (draft 07) as JSON, generated from the table of keys.
std::string config_schema();

}  // namespace accelerate::config
