#pragma once

// The questions of `accelerate config`, in the order and under the conditions of Python's.

#include "accelerate/config/launch_config.h"
#include "cli/prompt.h"

namespace accelerate::cli {

/// Asks all that matters for a job, and returns the answers with everything else at its usual value. Throws Error for
/// an answer that only Python's Accelerate can serve.
config::LaunchConfig ask_configuration(Prompt& prompt);

/// What the questionnaire gives when every question is answered with its preset.
config::LaunchConfig usual_configuration();

/// Asks whether to shard the model, and if so how, into fsdp_config and parallelism_config. Returns whether to.
bool ask_fsdp(Prompt& prompt, config::LaunchConfig& config);

}  // namespace accelerate::cli
