#pragma once

// Which rank of each machine does what is done once there.

#include <string>
#include <vector>

#include "accelerate/comm/group.h"

namespace accelerate::comm {

/// Where a rank runs.
struct MachinePlace {
  std::string host;
  int local_rank = 0;
};

/// The first rank on the machine of `rank`. Ranks of a machine follow each other, or take turns with those of others
/// (srun --distribution=cyclic, mpirun --map-by node).
int first_of_machine(const std::vector<MachinePlace>& places, int rank);

/// The same, from what all ranks say of themselves. Collective.
int first_of_machine(const Group& group, int local_rank);

}  // namespace accelerate::comm
