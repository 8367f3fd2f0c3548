#pragma once

// An uneven all-gather: each rank computes slices of arrays, and all ranks get all of them.

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "accelerate/base/slice.h"
#include "accelerate/shared_memory/channel.h"
#include "accelerate/shared_memory/peer_memory.h"

namespace accelerate::shared_memory {

/// Calls `run` for every round, on one or more threads.
using RunRounds = std::function<void(size_t num_rounds, const std::function<void(size_t round)>& run)>;

/// Runs the rounds in order, on this thread.
void run_in_order(size_t num_rounds, const std::function<void(size_t round)>& run);

/// Calls `compute` for each round of `plan`; it computes this rank's slices of `arrays`. In the end all ranks have all
/// slices. Starts with a barrier. Collective; the arrays have the same length on all ranks. If `peers` are reachable,
/// `run_rounds` runs the rounds, and each rank writes its slices directly into the arrays of the others. Otherwise the
/// slices are copied twice, through the staging buffers.
void all_gather_slices(Channel& channel, const PeerMemory& peers, const std::vector<std::span<std::byte>>& arrays,
                       const SlicePlan& plan, const std::function<void(size_t round)>& compute,
                       const RunRounds& run_rounds = run_in_order);

}  // namespace accelerate::shared_memory
