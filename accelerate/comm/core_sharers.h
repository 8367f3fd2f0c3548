#pragma once

// Which ranks share cores. A launcher may bind each rank to its own cores, several ranks to one socket, or none; then
// all ranks of a machine share its cores.

#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace accelerate::comm {

/// The cores that a rank may run on.
struct RankCores {
  std::string machine = {};
  std::vector<int> cores = {};  // sorted

  bool operator==(const RankCores&) const = default;
};

/// The ranks that share at least one core with a rank, itself included.
struct CoreSharers {
  int count = 1;
  int index = 0;  // of the rank itself among them, in rank order

  bool operator==(const CoreSharers&) const = default;
};

/// The core sharers of `rank`. `ranks` are in rank order.
CoreSharers find_core_sharers(const std::vector<RankCores>& ranks, int rank);

/// The core sharers of this rank, from an all-gather through `store`. Collective: returns when all ranks have called
/// it.
CoreSharers find_core_sharers(c10d::Store& store, int rank, int size);

}  // namespace accelerate::comm
