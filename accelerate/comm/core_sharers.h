#pragma once

// Which ranks have to share their cores. A launcher may have bound each to cores of its own, or some to those of one
// socket, or none; then all ranks of a machine run on the same ones.

#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/Store.hpp>

namespace accelerate::comm {

/// Where a rank may run.
struct RankCores {
  std::string machine = {};
  std::vector<int> cores = {};  // in order

  bool operator==(const RankCores&) const = default;
};

/// The ranks that have a core in common with one of them, itself included.
struct CoreSharers {
  int count = 1;
  int index = 0;  // its own place among them

  bool operator==(const CoreSharers&) const = default;
};

/// Those of `rank`; `ranks` are in rank order.
CoreSharers find_core_sharers(const std::vector<RankCores>& ranks, int rank);

/// Those of this rank; the ranks tell each other through `store`. Collective. When it returns, all ranks have told.
CoreSharers find_core_sharers(c10d::Store& store, int rank, int size);

}  // namespace accelerate::comm
