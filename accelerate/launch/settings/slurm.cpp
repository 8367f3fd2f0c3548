#include "accelerate/launch/settings/slurm.h"

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/base/slurm_lists.h"

namespace accelerate::launch {

SettingMap settings_of_slurm(const std::vector<SettingMap>& given) {
  auto nodes = environment_integer({"SLURM_STEP_NUM_NODES", "SLURM_NNODES"}).value_or(1);
  bool in_step = environment_variable("SLURM_STEP_ID").has_value();
  auto job = environment_integer({"SLURM_JOB_ID"});
  if (!in_step || !job || nodes < 2) return {};
  for (const auto& settings : given) {
    auto num_machines = settings.find("num_machines");
    if (num_machines == settings.end()) continue;
    if (num_machines->second.value != std::to_string(nodes)) return {};
    break;  // flags take precedence over variables
  }
  auto tasks = environment_integer({"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS"}).value_or(nodes);
  if (tasks != nodes) {
    fail("srun has started ", tasks, " launchers on ", nodes,
         " nodes; use one per node, which starts all processes of its node: ",
         "srun --ntasks-per-node=1 accelerate launch ...");
  }
  auto node_list =
      environment_variable("SLURM_STEP_NODELIST").value_or(environment_variable("SLURM_JOB_NODELIST").value_or(""));
  return {
      {"num_machines", {std::to_string(nodes), "SLURM_NNODES"}},
      {"machine_rank", {std::to_string(environment_integer({"SLURM_NODEID"}).value_or(0)), "SLURM_NODEID"}},
      {"main_process_ip", {first_slurm_node(node_list), "SLURM_STEP_NODELIST"}},
      {"main_process_port", {std::to_string(slurm_port(*job)), "SLURM_JOB_ID"}},
  };
}

}  // namespace accelerate::launch
