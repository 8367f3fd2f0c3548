#pragma once

// What a user asks of `accelerate launch`.

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/base/environment.h"
#include "accelerate/launch/settings.h"
#include "accelerate/launch/stream_routes.h"

namespace accelerate::launch {

struct LaunchOptions {
  int num_processes = 1;  // of all machines together
  int num_machines = 1;
  int machine_rank = 0;
  std::string main_process_ip = {};                     // where rank 0 is; several machines need it
  std::optional<int> main_process_port = std::nullopt;  // on one machine any free port, unless given
  bool rank_by_arrival = false;  // machine_rank and the port are found out when the machines meet
  std::optional<std::chrono::seconds> rendezvous_timeout = std::nullopt;  // wait so long for machine 0 before starting
  std::string mpirun_hostfile = {};
  bool ranks_by_mpi = false;  // mpirun gives the ranks their numbers; this machine's launcher starts one process

  std::string mixed_precision = "no";
  bool use_cpu = false;
  bool multi_gpu = false;
  std::string gpu_ids = "all";
  bool debug = false;
  bool enable_cpu_affinity = false;
  std::optional<int> num_cpu_threads_per_process = std::nullopt;
  std::optional<int> gradient_accumulation_steps = std::nullopt;
  std::optional<int> zero_stage = std::nullopt;  // for C++ programs
  std::string dynamo_backend = "no";
  std::string dynamo_mode = "default";
  bool dynamo_use_fullgraph = false;
  bool dynamo_use_dynamic = false;
  bool dynamo_use_regional_compilation = false;
  std::vector<EnvironmentVariable> sharding_variables = {};  // of FSDP and the like, for Python programs

  int max_restarts = 0;
  std::chrono::milliseconds monitor_interval = std::chrono::milliseconds(100);
  std::chrono::milliseconds shutdown_timeout = std::chrono::seconds(30);
  StreamRoutes streams = {};  // what goes to files
  std::string log_dir = {};
  std::string role = "default";
  std::optional<int> wait_for_debugger = std::nullopt;  // the rank

  std::optional<pid_t> terminal_job = std::nullopt;  // the process group of the shell's job, if that is on a terminal

  std::map<std::string, std::string> given_as = {};  // how a message names an option, where that is not by its flag

  bool module = false;
  bool no_python = false;
  std::string program = {};
  std::vector<std::string> arguments = {};  // of the program

  int local_processes() const { return num_processes / num_machines; }
  int first_rank() const { return machine_rank * local_processes(); }
  bool one_machine() const { return num_machines == 1; }
};

/// The options that the settings amount to; the program is still to be filled in. `gpus` is how many this machine has,
/// the default number of processes.
LaunchOptions options_of(const Settings& settings, int gpus);

/// What messages call an option: its flag, or where its value came from instead.
std::string name_of(const LaunchOptions& options, const std::string& flag);

/// The number of processes when nobody says one: one for each GPU, or one, on every machine.
int usual_processes(int num_machines, int gpus);

/// Whether Python runs the program: a script, a module or the interpreter itself.
bool is_python_program(const std::string& program, bool module);

/// Throws Error naming the option, its value and the remedy when the options contradict themselves or each other.
void check(const LaunchOptions& options);

}  // namespace accelerate::launch
