#pragma once

// The options of `accelerate launch`.

#include <sys/types.h>

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/base/environment.h"
#include "accelerate/launch/settings/settings.h"
#include "accelerate/launch/settings/stream_routes.h"

namespace accelerate::launch {

struct LaunchOptions {
  int num_processes = 1;  // on all machines together
  int num_machines = 1;
  int machine_rank = 0;
  std::string main_process_ip = {};                     // the host of rank 0; required for several machines
  std::optional<int> main_process_port = std::nullopt;  // on one machine, any free port by default
  bool rank_by_arrival = false;  // the rendezvous of the machines decides machine_rank and the port
  std::optional<std::chrono::seconds> rendezvous_timeout = std::nullopt;  // maximum wait for machine 0 before starting
  std::string mpirun_hostfile = {};
  bool ranks_by_mpi = false;  // mpirun assigns the ranks; this launcher starts one process

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
  StreamRoutes streams = {};  // which output goes to files
  std::string log_dir = {};
  std::string role = "default";
  std::optional<int> wait_for_debugger = std::nullopt;  // the rank to debug

  std::optional<pid_t> terminal_job = std::nullopt;  // the process group of the shell's job, if it is on a terminal

  std::map<std::string, std::string> given_as = {};  // how messages name an option, if not by its flag

  bool module = false;
  bool no_python = false;
  std::string program = {};
  std::vector<std::string> arguments = {};  // of the program

  int local_processes() const { return num_processes / num_machines; }
  int first_rank() const { return machine_rank * local_processes(); }
  bool one_machine() const { return num_machines == 1; }
};

/// Converts settings to options; the caller fills in the program. `gpus` is the number of GPUs of this machine, which
/// is the default number of processes.
LaunchOptions options_of(const Settings& settings, int gpus);

/// The name of an option in messages: its flag, or the other source of its value.
std::string name_of(const LaunchOptions& options, const std::string& flag);

/// The default number of processes: on every machine one per GPU, or one without GPUs.
int usual_processes(int num_machines, int gpus);

/// Whether Python runs the program: a script, a module or the interpreter itself.
bool is_python_program(const std::string& program, bool module);

/// Throws Error naming the option, its value and the remedy if an option is invalid or options contradict each other.
void check(const LaunchOptions& options);

}  // namespace accelerate::launch
