#pragma once

// Seeds random number generators and synchronises them across ranks.

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/Generator.h>

#include "accelerate/comm/group.h"

namespace accelerate::comm {

struct SeedOptions {
  bool device_specific = false;  // adds the rank, so that ranks draw different numbers
  bool deterministic = false;    // also asks libtorch for deterministic algorithms
};

/// Seeds libtorch's generators on every device. Not collective: a process that has not joined its job yet does not join
/// it here.
void set_seed(uint64_t seed, const SeedOptions& options = {});

/// Copies rank 0's state of a generator to all ranks. Collective.
void synchronize_rng_state(at::Generator& generator, const Group& group);

/// The same for a list of kinds: "torch" (the CPU generator), "cuda" (the current device's) and "generator" (the one
/// given).
void synchronize_rng_states(const std::vector<std::string>& kinds, const Group& group, at::Generator generator = {});

}  // namespace accelerate::comm
