#pragma once

// Reads the topology of a Slurm job, for launchers that srun has started on each node.

#include "accelerate/launch/settings/settings.h"

namespace accelerate::launch {

/// The number of machines, the rank of this one, and the address of rank 0. Empty outside of an srun step on several
/// nodes. Also empty if `given` (flags and variables) has a different number of machines: Slurm's values then do not
/// apply. Throws Error if srun has started more than one launcher per node.
SettingMap settings_of_slurm(const std::vector<SettingMap>& given = {});

}  // namespace accelerate::launch
