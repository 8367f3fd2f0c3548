#pragma once

// Which ranks of a job share a machine.

#include <string>
#include <vector>

#include "accelerate/shared_memory/key_value_store.h"

namespace accelerate::shared_memory {

/// The ranks of a job by machine: machines in the order of their first ranks, the ranks of each in rank order.
using Machines = std::vector<std::vector<int>>;

/// The index of a rank's machine, and of the rank on that machine.
struct Place {
  int machine = 0;
  int number = 0;

  bool operator==(const Place&) const = default;
};

/// Groups ranks by the names of their machines, given in rank order.
Machines group_by_machine(const std::vector<std::string>& names);

Place place_of(const Machines& machines, int rank);

/// Whether all machines have the same number of ranks.
bool all_alike(const Machines& machines);

/// All-gathers the machine of every rank through the store. Collective. If any rank is not `willing` to share memory,
/// each rank counts as a machine of its own. So do ranks of one machine in different network namespaces, as containers
/// are: they cannot connect to each other's Unix sockets.
Machines find_machines(const KeyValueStore& store, int rank, int size, bool willing);

}  // namespace accelerate::shared_memory
