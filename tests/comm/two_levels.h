#pragma once

// Ranks of this machine that play those of several, with shared memory in place of the network between machines.

#include <chrono>
#include <string>
#include <vector>

#include <torch/csrc/distributed/c10d/PrefixStore.hpp>

#include "accelerate/comm/backends/hierarchical_backend.h"
#include "accelerate/comm/backends/shared_memory_backend.h"
#include "accelerate/comm/connection.h"
#include "tests/support/hang_limit.h"

namespace accelerate::tests {

inline c10::intrusive_ptr<comm::SharedMemoryBackend> connect_level(const comm::Group& everyone, const std::string& name,
                                                                   const comm::Machines& machines) {
  auto store = everyone.connection()->process_group()->getStore();
  auto keys = comm::key_value_store(c10::make_intrusive<c10d::PrefixStore>(name, store));
  return comm::connect_through_memory(keys, machines, everyone.rank(), {.timeout = tests::hang_limit()});
}

/// The ranks that have the same number on their machines.
inline comm::Machines counterparts(const comm::Machines& machines) {
  comm::Machines rows(machines[0].size());
  for (const auto& ranks : machines) {
    for (size_t number = 0; number < ranks.size(); ++number) rows[number].push_back(ranks[number]);
  }
  return rows;
}

/// Two levels for `machines`, which together have all ranks.
inline c10::intrusive_ptr<c10d::Backend> connect_as(const comm::Group& everyone, const comm::Machines& machines) {
  std::vector<int> all(everyone.size());
  for (int rank = 0; rank < everyone.size(); ++rank) all[rank] = rank;
  comm::HierarchicalBackend::Levels levels{connect_level(everyone, "inside", machines),
                                           connect_level(everyone, "between", counterparts(machines))};
  return c10::make_intrusive<comm::HierarchicalBackend>(machines, levels, connect_level(everyone, "flat", {all}));
}

}  // namespace accelerate::tests
