#pragma once

// Exchanges slices of arrays: each rank computes some slices, and all ranks get all of them (an uneven all-gather).

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "accelerate/shared_memory/channel.h"
#include "accelerate/shared_memory/peer_memory.h"

namespace accelerate::shared_memory {

/// Bytes of one of several arrays.
struct Part {
  size_t array = 0;
  size_t begin = 0;
  size_t length = 0;
};

/// The slices that each rank computes, by rank. The same on all ranks.
using Shares = std::vector<std::vector<Part>>;

/// Calls `run` for every round, on one or more threads.
using RunRounds = std::function<void(size_t num_rounds, const std::function<void(size_t round)>& run)>;

/// Runs the rounds in order, on this thread.
void run_in_order(size_t num_rounds, const std::function<void(size_t round)>& run);

/// Calls `make` for each round: it computes this rank's slices of `arrays` and returns the slices of all ranks. In the
/// end all ranks have all slices. Starts with a barrier. Collective; the arrays have the same length on all ranks. If
/// `peers` are reachable, each rank writes its slices straight into the arrays of the others, by `run_rounds`;
/// otherwise they go through the staging buffers, in two copies.
void exchange_shares(Channel& channel, const PeerMemory& peers, const std::vector<std::span<std::byte>>& arrays,
                     size_t num_rounds, const std::function<Shares(size_t round)>& make,
                     const RunRounds& run_rounds = run_in_order);

}  // namespace accelerate::shared_memory
