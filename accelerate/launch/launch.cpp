#include "accelerate/launch/launch.h"

#include <algorithm>
#include <iostream>
#include <optional>

#include "accelerate/base/cpu.h"
#include "accelerate/base/environment.h"
#include "accelerate/base/exit_status.h"
#include "accelerate/base/gpu.h"
#include "accelerate/launch/arrival.h"
#include "accelerate/launch/attempt.h"
#include "accelerate/launch/cpp_program.h"
#include "accelerate/launch/installation.h"
#include "accelerate/launch/main_machine.h"
#include "accelerate/launch/mpirun.h"
#include "accelerate/launch/port.h"

namespace accelerate::launch {

namespace {

Machine look_at_machine(const LaunchOptions& options) {
  Machine machine;
  machine.use_cpu = options.use_cpu || count_gpus() == 0;
  machine.cores = std::min(physical_cores(), available_cores());
  auto threads = environment_integer({"OMP_NUM_THREADS"}).value_or(0);
  if (threads > 0) machine.omp_num_threads = static_cast<int>(threads);
  machine.main_process_port = options.main_process_port.value_or(0);
  return machine;
}

Outcome stopped(int number) { return {128 + number, "stopped by " + signal_name(number)}; }

/// The command of the ranks; a C++ source file is compiled first.
Command command_of(const LaunchOptions& options) {
  if (is_cpp_source(options.program) && !options.no_python && !options.module) {
    Command command{compile_program(options.program, read_build_recipe(own_prefix()), program_cache()),
                    {options.program}};
    command.arguments.insert(command.arguments.end(), options.arguments.begin(), options.arguments.end());
    return command;
  }
  return find_command(options.program, options.arguments, environment_variable("PATH").value_or(""),
                      {.module = options.module, .no_python = options.no_python});
}

/// Runs the program until it succeeds, the user has enough, or there are no starts left.
Outcome run_attempts(const LaunchOptions& options, const Command& command, Machine machine,
                     const JobDirectory& directory, SignalWatch& signals) {
  while (true) {
    auto result = run_attempt(options, command, machine, directory, signals);
    if (!result.may_retry || machine.restart_count == options.max_restarts) return {result.exit_code, result.message};
    ++machine.restart_count;
    std::cerr << "accelerate launch: " << result.message << "\naccelerate launch: starting again, "
              << machine.restart_count << " of at most " << options.max_restarts << " times" << std::endl;
    if (int number = signals.wait(options.monitor_interval); number != 0) return stopped(number);
  }
}

/// mpirun decides which process is which rank. Here it is one process: mpirun itself, or the one of its many that this
/// launcher is to start.
Outcome launch_by_mpi(LaunchOptions options, const JobDirectory& directory) {
  auto command = command_of(options);
  auto machine = look_at_machine(options);
  if (!options.mpirun_hostfile.empty()) command = find_mpirun(options, command, mpi_environment(options, machine));
  options.ranks_by_mpi = true;
  options.num_processes = options.num_machines = 1;
  options.machine_rank = 0;
  SignalWatch signals;
  return run_attempts(options, command, machine, directory, signals);
}

}  // namespace

Outcome launch(LaunchOptions options, const JobDirectory& directory) {
  check(options);
  if (!options.mpirun_hostfile.empty() || started_by_mpirun()) return launch_by_mpi(options, directory);
  auto command = command_of(options);
  SignalWatch signals;
  if (options.rank_by_arrival) {
    auto arrival =
        arrive(options.main_process_ip, *options.main_process_port, {options.num_machines, options.num_processes},
               options.rendezvous_timeout.value_or(std::chrono::minutes(15)), signals);
    if (arrival.stopped_by != 0) return stopped(arrival.stopped_by);
    options.machine_rank = arrival.machine_rank;
    options.main_process_port = arrival.main_process_port;
  }
  auto machine = look_at_machine(options);
  bool hosts_rank_0 = options.machine_rank == 0;
  if (hosts_rank_0 && machine.main_process_port != 0) check_port_is_free(machine.main_process_port);

  std::optional<MainMachineWatch> watch;
  if (!hosts_rank_0) {
    MainMachine main_machine(options.main_process_ip, machine.main_process_port);
    if (options.rendezvous_timeout) {
      int number = main_machine.wait(*options.rendezvous_timeout, signals);
      if (number != 0) return stopped(number);
    }
    watch.emplace(main_machine);
  }
  auto outcome = run_attempts(options, command, machine, directory, signals);
  auto problem = watch ? watch->problem() : "";
  if (outcome.exit_code != 0 && !problem.empty()) outcome.message += "\n  this machine has not reached " + problem;
  return outcome;
}

}  // namespace accelerate::launch
