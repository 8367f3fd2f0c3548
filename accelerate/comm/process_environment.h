#pragma once

// The rank of this process and where its rendezvous takes place, read from the environment variables of its launcher:
// ours, torchrun, Open MPI, Intel MPI and MPICH (PMI), MVAPICH or Slurm; or from an init_method of torch.distributed.
// Does not use libtorch and has no side effects.

#include <functional>
#include <optional>
#include <string>

namespace accelerate::comm {

struct ProcessEnvironment {
  int rank = 0;
  int world_size = 1;
  int local_rank = 0;
  int local_world_size = 1;
  bool distributed = false;  // a launcher set a rank, even if it is the only one

  std::string main_address = "127.0.0.1";  // of the machine with rank 0
  int main_port = 29500;
  std::optional<int> store_fd = std::nullopt;  // rank 0: a socket that the launcher has already bound to main_port
  bool agent_store = false;                    // torchrun hosts the store; rank 0 does not
  std::string store_file = {};                 // if set, the store is this file instead
  std::string run_id = {};                     // distinguishes jobs, and restarts of one job

  bool one_machine() const { return local_world_size == world_size; }

  /// Where the store is, for messages.
  std::string store_place() const {
    return store_file.empty() ? main_address + ":" + std::to_string(main_port) : store_file;
  }
};

using Lookup = std::function<std::optional<std::string>(const std::string& name)>;

/// Reads the variables through `lookup`. Throws Error if they are not numbers or contradict each other (a rank outside
/// of the world, several machines without an address).
ProcessEnvironment read_process_environment(const Lookup& lookup);

/// The same from this process's environment.
ProcessEnvironment read_process_environment();

/// Overrides the launcher's environment with `init_method`, in the notation of torch.distributed. Empty and env://
/// change nothing. tcp:// and file:// say where the store is. Without a launcher they also give rank and world size:
/// tcp://host:port?rank=0&world_size=2. Throws Error if rank and world size are not given or contradict the launcher,
/// for any other text, and for file:// with ranks on several machines.
ProcessEnvironment with_init_method(ProcessEnvironment process, const std::string& init_method);

}  // namespace accelerate::comm
