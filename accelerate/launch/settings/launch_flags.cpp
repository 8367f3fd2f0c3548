#include "accelerate/launch/settings/launch_flags.h"

#include <algorithm>

#include "accelerate/base/text.h"

namespace accelerate::launch {

namespace {

using enum FlagKind;

std::vector<LaunchFlag> program_flags() {
  return {
      {"config_file", Text, "Configuration file to read instead of the default one"},
      {"show_config",
       Switch,
       "Print the settings that affect the program and their origins, and start nothing; =all prints all settings",
       "false",
       {"all"}},
      {"module", Switch, "The program is a Python module, as with python3 -m", "false", {}, "m"},
      {"no_python", Switch, "Execute the program itself, even if its name ends in .py or .cpp", "false"},
      {"quiet", Switch, "When a rank fails, return its exit code without a summary", "false", {}, "q"},
      {"debug",
       Switch,
       "Compare the collectives of the ranks before running them",
       "false",
       {},
       "",
       "ACCELERATE_DEBUG_MODE"},
      {"wait_for_debugger", Integer, "Stop this rank before its first instruction, to attach gdb"},
  };
}

std::vector<LaunchFlag> hardware_flags() {
  return {
      {"num_processes",
       Integer,
       "Processes of all machines together; by default one per GPU, or one without a GPU",
       "",
       {},
       "n"},
      {"cpu", Switch, "Use the CPU even if there is a GPU", "false", {}, "", "ACCELERATE_USE_CPU"},
      {"multi_gpu", Switch, "Require several processes with one GPU each", "false"},
      {"gpu_ids", Text, "GPUs to use on this machine, such as 0,1,3, or all", "all"},
      {"mixed_precision", Text, "Precision of the forward pass", "no", {"no", "fp16", "bf16"}},
      {"num_cpu_threads_per_process", Integer,
       "Threads of each process; by default OMP_NUM_THREADS, or an equal part of the cores"},
      {"enable_cpu_affinity", Switch, "Bind each rank to its own cores", "false", {}, "", "ACCELERATE_CPU_AFFINITY"},
      {"gradient_accumulation_steps", Integer, "Backward passes per optimizer step"},
      {"zero_stage",
       Text,
       "Ranks of a C++ program shard the optimizer step (1), also the gradients (2), or nothing (0)",
       "",
       {"0", "1", "2"}},
  };
}

std::vector<LaunchFlag> machine_flags() {
  return {
      {"num_machines", Integer, "Number of machines", "1"},
      {"machine_rank", Integer, "Rank of this machine, from 0", "0"},
      {"main_process_ip", Text, "Address of machine 0, if there are several machines"},
      {"main_process_port", Integer, "Port of rank 0 for the rendezvous; on one machine a free port by default"},
      {"same_network", Switch, "All machines are on one local network; accepted, without effect", "false"},
      {"rdzv_backend",
       Text,
       "static: ranks are given by --machine_rank; c10d: machines get ranks in order of arrival",
       "static",
       {"static", "c10d"}},
      {"rdzv_conf", Text, "Rendezvous options as key=value,...: timeout in seconds", ""},
      {"mpirun_hostfile", Text, "Start the ranks with mpirun on the hosts in this file"},
  };
}

std::vector<LaunchFlag> supervision_flags() {
  return {
      {"max_restarts", Integer, "Maximum number of restarts after a failure", "0"},
      {"monitor_interval", Seconds, "Pause before a restart; ranks that end are always noticed immediately", "0.1"},
      {"shutdown_timeout", Seconds, "Time that ranks have to end by themselves when the job is stopped", "30"},
      {"redirects",
       Text,
       "Write streams to files: 0 none, 1 output, 2 errors, 3 both; or by local rank, such as 0:1,1:3",
       "0",
       {},
       "r"},
      {"tee", Text, "The same, but also to the console", "0", {}, "t"},
      {"log_dir", Text, "Directory for these files and for crash reports"},
      {"role", Text, "Name of the ranks in the prefix of their lines", "default"},
  };
}

std::vector<LaunchFlag> dynamo_flags() {
  std::vector<std::string> backends = {
      // in the order of Python's menu, which lacks the last two
      "no",   "eager",      "aot_eager", "inductor", "aot_ts_nvfuser",          "nvprims_nvfuser",     "cudagraphs",
      "ofi",  "fx2trt",     "onnxrt",    "tensorrt", "aot_torchxla_trace_once", "torchxla_trace_once", "tvm",
      "ipex", "hpu_backend"};
  return {
      {"dynamo_backend", Text, "Compiler of torch.compile", "no", backends},
      {"dynamo_mode", Text, "Mode of torch.compile", "default", {"default", "reduce-overhead", "max-autotune"}},
      {"dynamo_use_fullgraph", Switch, "torch.compile requires a single graph", "false"},
      {"dynamo_use_dynamic", Switch, "torch.compile traces dynamic shapes", "false"},
      {"dynamo_use_regional_compilation", Switch, "torch.compile compiles repeated blocks once", "false"},
  };
}

std::vector<LaunchFlag> sharding_flags() {
  return {
      {"use_fsdp", Switch, "Fully sharded data parallel, with the --fsdp_... flags of Python's launcher", "false"},
      {"fsdp_version", Text, "", "1", {"1", "2"}},
      {"fsdp_sharding_strategy", Text, "", "FULL_SHARD"},
      {"fsdp_reshard_after_forward", Text, "", "true"},
      {"fsdp_offload_params", Text, "", "false"},
      {"fsdp_min_num_params", Integer, "", "100000000"},
      {"fsdp_auto_wrap_policy", Text},
      {"fsdp_transformer_layer_cls_to_wrap", Text},
      {"fsdp_backward_prefetch", Text},
      {"fsdp_state_dict_type", Text},
      {"fsdp_forward_prefetch", Text, "", "false"},
      {"fsdp_use_orig_params", Text, "", "true"},
      {"fsdp_cpu_ram_efficient_loading", Text, "", "true"},
      {"fsdp_sync_module_states", Text, "", "true"},
      {"fsdp_activation_checkpointing", Text, "", "false"},
      {"fsdp_activation_checkpointing_offload", Text, "", "false"},
      {"fsdp_ignored_modules", Text},
      {"use_parallelism_config", Switch,
       "Several kinds of parallelism, with the --parallelism_config_... flags of Python's launcher", "false"},
      {"parallelism_config_dp_replicate_size", Integer, "", "1"},
      {"parallelism_config_dp_shard_size", Integer, "", "1"},
      {"parallelism_config_tp_size", Integer, "", "1"},
      {"parallelism_config_cp_size", Integer, "", "1"},
      {"parallelism_config_cp_backend", Text, "", "torch", {"torch"}},
      {"parallelism_config_cp_comm_strategy", Text},
      {"parallelism_config_sp_size", Integer, "", "1"},
      {"parallelism_config_sp_backend", Text, "", "deepspeed", {"deepspeed"}},
      {"parallelism_config_sp_seq_length", Integer},
      {"parallelism_config_sp_seq_length_is_variable", Text},
      {"parallelism_config_sp_attn_implementation", Text},
  };
}

struct Reason {
  std::vector<std::string_view> names;       // applies to these flags,
  std::vector<std::string_view> beginnings;  // and to flags with these prefixes
  std::string sentence;
};

const std::vector<Reason>& reasons() {
  static const std::vector<Reason> kAll = {
      {{"use_deepspeed", "gradient_clipping"},
       {"deepspeed_", "zero3_", "offload_"},
       "belongs to DeepSpeed, a Python library; start such a program with Python's `accelerate launch` or `deepspeed`"},
      {{"use_megatron_lm"},
       {"megatron_lm_"},
       "belongs to Megatron-LM, a Python library; start such a program with Python's `accelerate launch`"},
      {{"no_tpu_cluster", "vm", "env", "main_training_function", "downcast_bf16"},
       {"tpu"},
       "is for TPUs, which libtorch does not support; start such a program with Python's `accelerate launch`"},
      {{}, {"aws_"}, "is for SageMaker; start its jobs with its Python client"},
      {{}, {"fp8_"}, "configures fp8, which needs Python libraries; --mixed_precision can be no, fp16 or bf16"},
  };
  return kAll;
}

}  // namespace

std::string LaunchFlag::variable() const {
  if (!own_variable.empty()) return own_variable;
  return "ACCELERATE_" + upper_case(name);
}

const std::vector<LaunchFlag>& launch_flags() {
  static const std::vector<LaunchFlag> kAll = [] {
    std::vector<LaunchFlag> all;
    auto add = [&](const std::string& group, std::vector<LaunchFlag> flags) {
      for (auto& flag : flags) {
        flag.group = flag.help.empty() ? "" : group;
        all.push_back(std::move(flag));
      }
    };
    add("Program", program_flags());
    add("Processes", hardware_flags());
    add("Machines", machine_flags());
    add("Supervision", supervision_flags());
    add("Python programs", dynamo_flags());
    add("Python programs", sharding_flags());
    return all;
  }();
  return kAll;
}

const LaunchFlag* find_launch_flag(std::string_view name) {
  const auto& all = launch_flags();
  auto found = std::find_if(all.begin(), all.end(), [&](const auto& flag) { return flag.name == name; });
  return found == all.end() ? nullptr : &*found;
}

std::string why_not_here(std::string_view name) {
  for (const auto& [names, beginnings, sentence] : reasons()) {
    bool named = std::find(names.begin(), names.end(), name) != names.end();
    bool begins = std::any_of(beginnings.begin(), beginnings.end(), [&](auto part) { return name.starts_with(part); });
    if (named || begins) return sentence;
  }
  return "";
}

}  // namespace accelerate::launch
