#pragma once

// Upgrades files of older versions of Accelerate to the current keys.

#include <string>
#include <vector>

#include "accelerate/config/document.h"

namespace accelerate::config {

/// Renames and removes outdated keys of `file`, a map. Returns a sentence for each change.
std::vector<std::string> upgrade(DocumentNode& file);

}  // namespace accelerate::config
