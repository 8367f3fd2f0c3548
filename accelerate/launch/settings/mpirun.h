#pragma once

// Jobs with ranks started by mpirun: this launcher runs mpirun with a hostfile, or mpirun has started this launcher.

#include <string>
#include <vector>

#include "accelerate/base/environment.h"
#include "accelerate/launch/settings/launch_options.h"
#include "accelerate/process/child_process.h"

namespace accelerate::launch {

enum class MpiKind { OpenMpi, Hydra };  // Hydra is the launcher of MPICH, Intel MPI and MVAPICH

/// The command that starts `program` on the hosts of the hostfile, with `variables` set for every rank.
process::Command mpirun_command(const std::string& mpirun, MpiKind kind, const LaunchOptions& options,
                                const process::Command& program, const std::vector<EnvironmentVariable>& variables);

/// Finds mpirun or mpiexec in PATH, detects its kind and returns its `mpirun_command`. Throws Error if there is
/// neither, or no hostfile.
process::Command find_mpirun(const LaunchOptions& options, const process::Command& program,
                             const std::vector<EnvironmentVariable>& variables);

/// Whether this process is one of several that mpirun has started. Each of them then starts one rank.
bool started_by_mpirun();

}  // namespace accelerate::launch
