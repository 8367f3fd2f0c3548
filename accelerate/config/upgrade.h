#pragma once

// Files that older versions of Accelerate wrote, brought to today's keys.

#include <string>
#include <vector>

#include "accelerate/config/document.h"

namespace accelerate::config {

/// Renames and removes what has changed in the keys of `file`, a map. Returns a sentence for each change.
std::vector<std::string> upgrade(DocumentNode& file);

}  // namespace accelerate::config
