#include "accelerate/launch/launch.h"

#include <algorithm>
#include <iostream>
#include <memory>
#include <optional>

#include "accelerate/base/cpu.h"
#include "accelerate/base/environment.h"
#include "accelerate/base/gpu.h"
#include "accelerate/launch/attempt.h"
#include "accelerate/launch/machines/launcher_rendezvous.h"
#include "accelerate/launch/machines/machine_link.h"
#include "accelerate/launch/machines/main_machine.h"
#include "accelerate/launch/machines/network.h"
#include "accelerate/launch/program/cpp_program.h"
#include "accelerate/launch/program/program.h"
#include "accelerate/launch/settings/mpirun.h"

namespace accelerate::launch {

namespace {

Machine look_at_machine(const LaunchOptions& options) {
  Machine machine;
  machine.use_cpu = options.use_cpu || count_gpus() == 0;
  machine.cores = usable_cores();
  machine.omp_num_threads = wanted_threads();
  machine.main_process_port = options.main_process_port.value_or(0);
  return machine;
}

/// The command of the ranks. Compiles a C++ source file first.
process::Command command_of(const LaunchOptions& options) {
  if (is_cpp_source(options.program) && !options.no_python && !options.module) {
    process::Command command{
        compile_program(options.program, with_environment_flags(read_build_recipe(own_prefix())), program_cache()),
        {options.program}};
    command.arguments.insert(command.arguments.end(), options.arguments.begin(), options.arguments.end());
    return command;
  }
  return find_command(options.program, options.arguments, environment_variable("PATH").value_or(""),
                      {.module = options.module, .no_python = options.no_python});
}

/// Runs the program until it succeeds, the user interrupts, or the restarts are used up. Coordinates with `others`
/// unless it is null.
Outcome run_attempts(const LaunchOptions& options, const process::Command& command, Machine machine,
                     const JobDirectory& directory, process::SignalWatch& signals, MachineLink* others = nullptr) {
  while (true) {
    auto outcome = run_attempt(options, command, machine, directory, signals, others);
    bool again = outcome.may_retry && machine.restart_count < options.max_restarts;
    if (others) {
      auto decision = others->settle(outcome, machine.restart_count < options.max_restarts, signals);
      again = decision.again;
      outcome = decision.outcome;
      if (again) machine.main_process_port = decision.main_process_port;
    }
    if (!again) return outcome;
    ++machine.restart_count;
    std::cerr << "accelerate launch: " << outcome.message << "\naccelerate launch: restart " << machine.restart_count
              << " of at most " << options.max_restarts << std::endl;
    if (int number = signals.request_to_stop(options.monitor_interval)) return stopped_by_signal(number);
  }
}

/// The cores of each process that mpirun starts on a machine. If this launcher is one of them, mpirun may have bound it
/// to its own cores.
int cores_of_rank(const LaunchOptions& options, const Machine& machine) {
  if (!options.mpirun_hostfile.empty()) return machine.cores / options.local_processes();
  int64_t processes =
      environment_integer({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS", "MV2_COMM_WORLD_LOCAL_SIZE"}).value_or(1);
  int64_t share = physical_cores() / std::max<int64_t>(1, processes);
  return static_cast<int>(std::min<int64_t>(share, available_cores()));
}

/// mpirun assigns the ranks. This launcher starts one process: mpirun itself, or the program if mpirun has started the
/// launcher.
Outcome launch_by_mpi(LaunchOptions options, const JobDirectory& directory) {
  auto command = command_of(options);
  auto machine = look_at_machine(options);
  if (!options.mpirun_hostfile.empty()) command = find_mpirun(options, command, mpi_environment(options, machine));
  machine.cores = std::max(1, cores_of_rank(options, machine));
  options.ranks_by_mpi = true;
  options.num_processes = options.num_machines = 1;
  options.machine_rank = 0;
  process::SignalWatch signals;
  return run_attempts(options, command, machine, directory, signals);
}

}  // namespace

Outcome launch(LaunchOptions options, const JobDirectory& directory) {
  if (!options.mpirun_hostfile.empty() || started_by_mpirun()) return launch_by_mpi(options, directory);
  check_room(options);
  auto command = command_of(options);
  process::SignalWatch signals;
  std::unique_ptr<MachineLink> others;
  // With given ranks and no restarts, the other machines need not run this launcher.
  if (options.rank_by_arrival || (!options.one_machine() && options.max_restarts > 0)) {
    auto rendezvous = launcher_rendezvous(options.main_process_ip, *options.main_process_port,
                                          {options.num_machines, options.num_processes},
                                          options.rank_by_arrival ? std::nullopt : std::optional(options.machine_rank),
                                          options.rendezvous_timeout.value_or(std::chrono::minutes(15)), signals);
    if (rendezvous.stopped_by != 0) return stopped_by_signal(rendezvous.stopped_by);
    others = rendezvous.machine_rank == 0
                 ? link_as_main_machine(std::move(rendezvous.others),
                                        options.rank_by_arrival ? 0 : *options.main_process_port)
                 : link_to_main_machine(std::move(rendezvous.others.front()));
    options.machine_rank = rendezvous.machine_rank;
    options.main_process_port = rendezvous.main_process_port;
  }
  auto machine = look_at_machine(options);
  bool hosts_rank_0 = options.machine_rank == 0;
  if (hosts_rank_0 && machine.main_process_port != 0) check_port_is_free(machine.main_process_port);

  std::optional<MainMachineWatch> watch;
  if (!hosts_rank_0 && !others) {
    MainMachine main_machine(options.main_process_ip, machine.main_process_port);
    if (options.rendezvous_timeout) {
      int number = main_machine.wait(*options.rendezvous_timeout, signals);
      if (number != 0) return stopped_by_signal(number);
    }
    watch.emplace(main_machine);
  }
  auto outcome = run_attempts(options, command, machine, directory, signals, others.get());
  auto problem = watch ? watch->problem() : "";
  if (outcome.exit_code != 0 && !problem.empty()) outcome.message += "\n  this machine has not reached " + problem;
  return outcome;
}

}  // namespace accelerate::launch
