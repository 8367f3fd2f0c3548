#pragma once

// accelerate merge-weights: joins the shards of a model into one file, or cuts it into shards.

#include <string>
#include <vector>

namespace accelerate::cli {

/// Runs the command and returns its exit code. Throws UsageError.
int merge_weights_command(const std::vector<std::string>& arguments);

}  // namespace accelerate::cli
