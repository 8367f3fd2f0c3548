#include "accelerate/launch/settings/mpirun.h"

#include <filesystem>

#include "accelerate/base/error.h"
#include "accelerate/process/child_process.h"

namespace accelerate::launch {

process::Command mpirun_command(const std::string& mpirun, MpiKind kind, const LaunchOptions& options,
                                const process::Command& program, const std::vector<EnvironmentVariable>& variables) {
  auto per_host = std::to_string(options.local_processes());
  auto total = std::to_string(options.num_processes);
  process::Command command{mpirun, {"mpirun"}};
  auto& words = command.arguments;
  if (kind == MpiKind::OpenMpi) {
    words.insert(words.end(),
                 {"--hostfile", options.mpirun_hostfile, "--npernode", per_host, "-n", total, "--bind-to", "socket"});
    for (const auto& [name, value] : variables) {
      if (value) words.insert(words.end(), {"-x", name});  // mpirun takes the value from its own environment
    }
  } else {
    words.insert(words.end(), {"-f", options.mpirun_hostfile, "-ppn", per_host, "-n", total});
  }
  words.push_back(program.path);
  words.insert(words.end(), program.arguments.begin() + 1, program.arguments.end());
  return command;
}

process::Command find_mpirun(const LaunchOptions& options, const process::Command& program,
                             const std::vector<EnvironmentVariable>& variables) {
  if (!std::filesystem::is_regular_file(options.mpirun_hostfile)) {
    fail("--mpirun_hostfile ", options.mpirun_hostfile, " does not exist; it lists a host on each line");
  }
  for (const char* name : {"mpirun", "mpiexec"}) {
    auto version = process::run_and_capture({name, "--version"});
    if (version.exit_code != 0) continue;
    bool open_mpi =
        version.output.find("Open MPI") != std::string::npos || version.output.find("OpenRTE") != std::string::npos;
    auto path = find_command(name, {}, environment_variable("PATH").value_or("")).path;
    return mpirun_command(path, open_mpi ? MpiKind::OpenMpi : MpiKind::Hydra, options, program, variables);
  }
  fail("--mpirun_hostfile is given, but neither mpirun nor mpiexec is in PATH; install Open MPI, MPICH or Intel MPI");
}

bool started_by_mpirun() {
  bool in_slurm = environment_variable("SLURM_JOB_ID").has_value();  // Slurm sets PMI_SIZE for its own tasks
  auto size = in_slurm ? environment_integer({"OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE"})
                       : environment_integer({"OMPI_COMM_WORLD_SIZE", "MV2_COMM_WORLD_SIZE", "PMI_SIZE"});
  return size.value_or(1) > 1;
}

}  // namespace accelerate::launch
