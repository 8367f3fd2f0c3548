#include "accelerate/launch/settings/child_environment.h"

#include <algorithm>
#include <string_view>

#include "accelerate/base/text.h"

namespace accelerate::launch {

namespace {

std::string python_text(bool value) { return value ? "True" : "False"; }

}  // namespace

std::vector<EnvironmentVariable> common_environment(const LaunchOptions& options, const Machine& machine) {
  int threads = options.num_cpu_threads_per_process.value_or(
      machine.omp_num_threads.value_or(std::max(1, machine.cores / options.local_processes())));
  std::vector<EnvironmentVariable> variables = {
      {"ACCELERATE_MIXED_PRECISION", options.mixed_precision},
      {"ACCELERATE_DYNAMO_BACKEND", upper_case(options.dynamo_backend)},
      {"ACCELERATE_DYNAMO_MODE", options.dynamo_mode},
      {"ACCELERATE_DYNAMO_USE_FULLGRAPH", python_text(options.dynamo_use_fullgraph)},
      {"ACCELERATE_DYNAMO_USE_DYNAMIC", python_text(options.dynamo_use_dynamic)},
      {"ACCELERATE_DYNAMO_USE_REGIONAL_COMPILATION", python_text(options.dynamo_use_regional_compilation)},
      {"OMP_NUM_THREADS", std::to_string(threads)},
  };
  if (machine.use_cpu) variables.push_back({"ACCELERATE_USE_CPU", "True"});
  if (options.debug) variables.push_back({"ACCELERATE_DEBUG_MODE", "true"});
  if (options.enable_cpu_affinity) variables.push_back({"ACCELERATE_CPU_AFFINITY", "1"});
  if (options.gpu_ids != "all") variables.push_back({"CUDA_VISIBLE_DEVICES", options.gpu_ids});
  if (auto steps = options.gradient_accumulation_steps) {
    variables.push_back({"ACCELERATE_GRADIENT_ACCUMULATION_STEPS", std::to_string(*steps)});
  }
  if (options.zero_stage) variables.push_back({"ACCELERATE_ZERO_STAGE", std::to_string(*options.zero_stage)});
  variables.insert(variables.end(), options.sharding_variables.begin(), options.sharding_variables.end());
  return variables;
}

std::vector<EnvironmentVariable> mpi_environment(const LaunchOptions& options, const Machine& machine) {
  constexpr int kUsualPort = 29500;  // all machines use it, since they cannot communicate yet
  auto variables = common_environment(options, machine);
  int port = machine.main_process_port != 0 ? machine.main_process_port : kUsualPort;
  variables.push_back({"MASTER_ADDR", options.main_process_ip.empty() ? "127.0.0.1" : options.main_process_ip});
  variables.push_back({"MASTER_PORT", std::to_string(port)});
  for (const char* name : {"RANK", "LOCAL_RANK", "WORLD_SIZE", "LOCAL_WORLD_SIZE", "ACCELERATE_STORE_FD"}) {
    variables.push_back({name, std::nullopt});
  }
  return variables;
}

std::vector<EnvironmentVariable> child_environment(const LaunchOptions& options, const Machine& machine, int local_rank,
                                                   const std::string& error_file) {
  auto rank = std::to_string(options.first_rank() + local_rank);
  auto world_size = std::to_string(options.num_processes);
  // The launcher may itself be a rank; its children must not inherit its socket.
  std::optional<std::string> store_fd;
  if (machine.store_fd && rank == "0") store_fd = std::to_string(*machine.store_fd);

  auto variables = common_environment(options, machine);
  for (const auto& variable : std::initializer_list<EnvironmentVariable>{
           {"RANK", rank},
           {"LOCAL_RANK", std::to_string(local_rank)},
           {"WORLD_SIZE", world_size},
           {"LOCAL_WORLD_SIZE", std::to_string(options.local_processes())},
           {"GROUP_RANK", std::to_string(options.machine_rank)},
           {"GROUP_WORLD_SIZE", std::to_string(options.num_machines)},
           {"ROLE_NAME", options.role},
           {"ROLE_RANK", rank},
           {"ROLE_WORLD_SIZE", world_size},
           {"MASTER_ADDR", options.one_machine() ? "127.0.0.1" : options.main_process_ip},
           {"MASTER_PORT", std::to_string(machine.main_process_port)},
           {"TORCHELASTIC_RESTART_COUNT", std::to_string(machine.restart_count)},
           {"TORCHELASTIC_MAX_RESTARTS", std::to_string(options.max_restarts)},
           {"TORCHELASTIC_RUN_ID", "none"},
           {"TORCHELASTIC_USE_AGENT_STORE", "False"},  // rank 0 hosts the store, not the launcher
           {"TORCHELASTIC_ERROR_FILE", error_file},
           {"TORCHELASTIC_SIGNALS_TO_HANDLE", "SIGTERM,SIGINT,SIGHUP,SIGQUIT"},
           {"TORCH_NCCL_ASYNC_ERROR_HANDLING", "1"},
           {"ACCELERATE_STORE_FD", store_fd},
       }) {
    variables.push_back(variable);
  }
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
