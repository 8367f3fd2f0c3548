#pragma once

// What a user asks of `accelerate launch`.

#include <optional>
#include <string>
#include <vector>

namespace accelerate::launch {

struct LaunchOptions {
  int num_processes = 1;  // of all machines together
  int num_machines = 1;
  int machine_rank = 0;
  std::string main_process_ip = {};                     // where rank 0 is; several machines need it
  std::optional<int> main_process_port = std::nullopt;  // on one machine any free port, unless given
  std::string mixed_precision = "no";
  bool use_cpu = false;
  bool debug = false;
  std::optional<int> num_cpu_threads_per_process = std::nullopt;
  std::string program = {};
  std::vector<std::string> arguments = {};  // of the program

  int local_processes() const { return num_processes / num_machines; }
  bool one_machine() const { return num_machines == 1; }
};

/// Throws Error naming the option, its value and the remedy when the options contradict themselves or each other.
void check(const LaunchOptions& options);

}  // namespace accelerate::launch
