#pragma once

// The values in effect of options that the environment may give, or that can be set in two places. Private to the face.

#include <cstdint>
#include <optional>

#include "accelerate/accelerator_options.h"
#include "accelerate/comm/group.h"

namespace accelerate {

/// The value of the options, else the environment's, else none.
precision::MixedPrecision resolve_precision(const AcceleratorOptions& options);

/// Throws Error if `project_dir` is set in two places to different directories, or if total_limit is below 1.
ProjectConfiguration resolve_project(const AcceleratorOptions& options);

/// Throws Error if the number is set in two places.
int64_t resolve_accumulation_steps(const AcceleratorOptions& options);

/// Throws Error for a stage that does not exist. Nothing: decide for each optimizer.
std::optional<int64_t> resolve_zero_stage(const AcceleratorOptions& options);

/// Throws Error with the reason if ranks cannot keep shards of gradients (zero_stage = 2).
void check_gradient_sharding(const AcceleratorOptions& options, precision::MixedPrecision precision,
                             const comm::Group& group);

}  // namespace accelerate
