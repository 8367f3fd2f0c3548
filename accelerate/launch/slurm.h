#pragma once

// What Slurm says about the machines of a job, for launchers that srun has started, one on each.

#include "accelerate/launch/settings.h"

namespace accelerate::launch {

/// The number of machines, the rank of this one, and where rank 0 is; empty outside of a step of srun on several nodes.
/// Throws Error when srun has started more than one launcher on a node.
SettingMap settings_of_slurm();

}  // namespace accelerate::launch
