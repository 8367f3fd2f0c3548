#pragma once

// The questions of `accelerate config` about fully sharded data parallel.

#include "accelerate/config/launch_config.h"
#include "cli/prompt.h"

namespace accelerate::cli {

/// Asks whether to shard the model, and if so how, into fsdp_config and parallelism_config. Returns whether to.
bool ask_fsdp(Prompt& prompt, config::LaunchConfig& config);

}  // namespace accelerate::cli
