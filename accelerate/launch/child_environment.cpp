#include "accelerate/launch/child_environment.h"

#include <algorithm>
#include <string_view>

namespace accelerate::launch {

std::string error_file(const Machine& machine, int local_rank) {
  return machine.error_directory + "/" + std::to_string(local_rank) + "/error.json";
}

std::vector<EnvironmentVariable> child_environment(const LaunchOptions& options, const Machine& machine,
                                                   int local_rank) {
  int local_processes = options.local_processes();
  auto rank = std::to_string(options.machine_rank * local_processes + local_rank);
  auto world_size = std::to_string(options.num_processes);
  int threads = options.num_cpu_threads_per_process.value_or(
      machine.omp_num_threads.value_or(std::max(1, machine.cores / local_processes)));

  std::vector<EnvironmentVariable> variables = {
      {"ACCELERATE_MIXED_PRECISION", options.mixed_precision},
      {"ACCELERATE_DYNAMO_BACKEND", "NO"},
      {"ACCELERATE_DYNAMO_MODE", "default"},
      {"ACCELERATE_DYNAMO_USE_FULLGRAPH", "False"},
      {"ACCELERATE_DYNAMO_USE_DYNAMIC", "False"},
      {"ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION", "False"},
      {"OMP_NUM_THREADS", std::to_string(threads)},
      {"RANK", rank},
      {"LOCAL_RANK", std::to_string(local_rank)},
      {"WORLD_SIZE", world_size},
      {"LOCAL_WORLD_SIZE", std::to_string(local_processes)},
      {"GROUP_RANK", std::to_string(options.machine_rank)},
      {"GROUP_WORLD_SIZE", std::to_string(options.num_machines)},
      {"ROLE_NAME", "default"},
      {"ROLE_RANK", rank},
      {"ROLE_WORLD_SIZE", world_size},
      {"MASTER_ADDR", options.one_machine() ? "127.0.0.1" : options.main_process_ip},
      {"MASTER_PORT", std::to_string(machine.main_process_port)},
      {"TORCHELASTIC_RESTART_COUNT", "0"},
      {"TORCHELASTIC_MAX_RESTARTS", "0"},
      {"TORCHELASTIC_RUN_ID", "none"},
      {"TORCHELASTIC_USE_AGENT_STORE", "False"},  // rank 0 hosts the store, not the launcher
      {"TORCHELASTIC_ERROR_FILE", error_file(machine, local_rank)},
      {"TORCHELASTIC_SIGNALS_TO_HANDLE", "SIGTERM,SIGINT,SIGHUP,SIGQUIT"},
      {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"},
      // A launcher may itself be a rank of something; its own socket is not the children's.
      {"ACCELERATE_STORE_FD", std::nullopt},
  };
  if (machine.store_fd && rank == "0") variables.back().value = std::to_string(*machine.store_fd);
  if (machine.use_cpu) variables.push_back({"ACCELERATE_USE_CPU", "True"});
  if (options.debug) variables.push_back({"ACCELERATE_DEBUG_MODE", "true"});
  return variables;
}

std::vector<std::string> merge_environment(const char* const* base, const std::vector<EnvironmentVariable>& changes) {
  std::vector<std::string> merged;
  for (; *base != nullptr; ++base) {
    std::string_view entry(*base);
    auto name = entry.substr(0, entry.find('='));
    bool changed = std::any_of(changes.begin(), changes.end(), [&](const auto& change) { return change.name == name; });
    if (!changed) merged.emplace_back(entry);
  }
  for (const auto& [name, value] : changes) {
    if (value) merged.push_back(name + "=" + *value);
  }
  return merged;
}

}  // namespace accelerate::launch
