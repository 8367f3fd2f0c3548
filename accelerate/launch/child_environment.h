#pragma once

// What each rank of a job finds in its environment. The variables are those that torch's and Python Accelerate's
// launchers set, so that programs of either kind run under this one.

#include <optional>
#include <string>
#include <vector>

#include "accelerate/base/environment.h"
#include "accelerate/launch/launch_options.h"

namespace accelerate::launch {

/// What the launcher found out about the machine before it starts the ranks.
struct Machine {
  bool use_cpu = true;                         // asked for, or there is no other device
  int cores = 1;                               // to share among the ranks
  std::optional<int> omp_num_threads = {};     // that the user has set
  int main_process_port = 0;                   // where rank 0 meets the others
  std::optional<int> store_fd = std::nullopt;  // a socket bound to that port, for rank 0
  int restart_count = 0;
};

/// What every rank finds, whoever started it: precision, threads and the like.
std::vector<EnvironmentVariable> common_environment(const LaunchOptions& options, const Machine& machine);

/// What a process finds whose rank mpirun decides: where to meet, and no rank of ours.
std::vector<EnvironmentVariable> mpi_environment(const LaunchOptions& options, const Machine& machine);

/// The variables of the rank with that number on this machine, to be laid over the launcher's own environment.
/// `error_file` is where it reports a crash.
std::vector<EnvironmentVariable> child_environment(const LaunchOptions& options, const Machine& machine, int local_rank,
                                                   const std::string& error_file = "");

/// The environment `base`, as "NAME=value", with `changes` applied.
std::vector<std::string> merge_environment(const char* const* base, const std::vector<EnvironmentVariable>& changes);

}  // namespace accelerate::launch
