#pragma once

// What Slurm says about the machines of a job, for launchers that srun has started, one on each.

#include "accelerate/launch/settings.h"

namespace accelerate::launch {

/// The number of machines, the rank of this one, and where rank 0 is; empty outside of a step of srun on several nodes,
/// and where `given`, from flags and variables, has another number of machines: what Slurm says is then beside the
/// point. Throws Error when srun has started more than one launcher on a node.
SettingMap settings_of_slurm(const std::vector<SettingMap>& given = {});

}  // namespace accelerate::launch
