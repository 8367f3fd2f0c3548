#pragma once

// The environment variables of each rank. They are the variables that torchrun and Python's Accelerate set, so programs
// written for either run under this launcher.

#include <optional>
#include <string>
#include <vector>

#include "accelerate/base/environment.h"
#include "accelerate/launch/settings/launch_options.h"

namespace accelerate::launch {

/// What the launcher finds out about the machine before it starts the ranks.
struct Machine {
  bool use_cpu = true;                         // requested, or there is no other device
  int cores = 1;                               // shared by the ranks
  std::optional<int> omp_num_threads = {};     // if set by the user
  int main_process_port = 0;                   // of the ranks' rendezvous
  std::optional<int> store_fd = std::nullopt;  // a socket bound to that port, for rank 0
  int restart_count = 0;
};

/// The variables that every rank gets, also under mpirun: precision, threads and so on.
std::vector<EnvironmentVariable> common_environment(const LaunchOptions& options, const Machine& machine);

/// The variables of processes that get their rank from mpirun: the address of the rendezvous, but no rank.
std::vector<EnvironmentVariable> mpi_environment(const LaunchOptions& options, const Machine& machine);

/// The variables of the rank `local_rank` of this machine, to be merged into the launcher's environment. The rank
/// reports a crash in `error_file`.
std::vector<EnvironmentVariable> child_environment(const LaunchOptions& options, const Machine& machine, int local_rank,
                                                   const std::string& error_file = "");

/// The environment `base`, as "NAME=value", with `changes` applied.
std::vector<std::string> merge_environment(const char* const* base, const std::vector<EnvironmentVariable>& changes);

}  // namespace accelerate::launch
