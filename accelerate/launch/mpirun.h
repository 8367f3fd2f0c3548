#pragma once

// Jobs whose ranks mpirun starts: on the hosts of a file at our request, or because this launcher was started by it.

#include <string>
#include <vector>

#include "accelerate/base/environment.h"
#include "accelerate/launch/launch_options.h"
#include "accelerate/launch/program.h"

namespace accelerate::launch {

enum class MpiKind { OpenMpi, Hydra };  // Hydra starts the ranks of MPICH, Intel MPI and MVAPICH

/// The command that starts `program` on the hosts of the options' hostfile, with `variables` set for every rank.
Command mpirun_command(const std::string& mpirun, MpiKind kind, const LaunchOptions& options, const Command& program,
                       const std::vector<EnvironmentVariable>& variables);

/// The mpirun or mpiexec of PATH and its kind, for `mpirun_command`. Throws Error when there is none or no hostfile.
Command find_mpirun(const LaunchOptions& options, const Command& program,
                    const std::vector<EnvironmentVariable>& variables);

/// Whether this process is one of several that mpirun has started: then each of them is to start one rank.
bool started_by_mpirun();

}  // namespace accelerate::launch
