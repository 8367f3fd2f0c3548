#pragma once

// Arrays of which every rank makes a part.

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

/// The parts that each rank makes, by rank. The same on all ranks.
using Shares = std::vector<std::vector<Part>>;

/// Calls its second argument for every round, on some threads.
using RunRounds = std::function<void(size_t num_rounds, const std::function<void(size_t round)>& run)>;

/// One after the other.
void run_in_order(size_t num_rounds, const std::function<void(size_t round)>& run);

/// Calls `make` for each round, which makes this rank's parts of `arrays` and returns everyone's; in the end all ranks
/// have all parts. Nothing is made before all ranks have come. Collective; the arrays are as long on all ranks. Where
/// `peers` are reachable, a rank writes what it has made to where it belongs on each of the others, with `run_rounds`;
/// else it goes through the stages, in two copies.
void exchange_shares(Channel& channel, const PeerMemory& peers, const std::vector<std::span<std::byte>>& arrays,
                     size_t num_rounds, const std::function<Shares(size_t round)>& make,
                     const RunRounds& run_rounds = run_in_order);

}  // namespace accelerate::shared_memory
