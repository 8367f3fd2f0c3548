#pragma once

// Which ranks of a job share a machine.

#include <string>
#include <vector>

#include "accelerate/shared_memory/notice_board.h"

namespace accelerate::shared_memory {

/// The ranks of a job by machine: machines in the order of their first ranks, the ranks of each in rank order.
using Machines = std::vector<std::vector<int>>;

/// Where a rank is: the index of its machine, and its own among the ranks of that machine.
struct Place {
  int machine = 0;
  int number = 0;

  bool operator==(const Place&) const = default;
};

/// Puts the ranks together that have the same name of a machine; `names` are in rank order.
Machines group_by_machine(const std::vector<std::string>& names);

Place place_of(const Machines& machines, int rank);

/// Whether every machine has as many ranks as the others.
bool all_alike(const Machines& machines);

/// Finds out where all ranks are. Collective. A rank that is not `willing` to share its memory keeps all from it: then
/// each counts as on a machine of its own. So do ranks of one machine that have networks of their own, as containers
/// may: they could not hand each other anything.
Machines find_machines(const NoticeBoard& board, int rank, int size, bool willing);

}  // namespace accelerate::shared_memory
