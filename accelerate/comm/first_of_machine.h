#pragma once

// The first rank of each machine, for work that is done once per machine.

#include <string>
#include <vector>

#include "accelerate/comm/group.h"

namespace accelerate::comm {

/// Where a rank runs.
struct MachinePlace {
  std::string host;
  int local_rank = 0;
};

/// The first rank on the machine of `rank`. Works for block and for cyclic distribution of ranks
/// (srun --distribution=cyclic, mpirun --map-by node).
int first_of_machine(const std::vector<MachinePlace>& places, int rank);

/// The same for this rank, from an all-gather of the places. Collective.
int first_of_machine(const Group& group, int local_rank);

}  // namespace accelerate::comm
