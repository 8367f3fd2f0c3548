#include "accelerate/config/keys.h"

#include <algorithm>

namespace accelerate::config {

namespace {

std::vector<std::string> fsdp_keys() {
  return {"fsdp_version",
          "fsdp_sharding_strategy",
          "fsdp_reshard_after_forward",
          "fsdp_offload_params",
          "fsdp_auto_wrap_policy",
          "fsdp_transformer_layer_cls_to_wrap",
          "fsdp_min_num_params",
          "fsdp_backward_prefetch",
          "fsdp_backward_prefetch_policy",
          "fsdp_forward_prefetch",
          "fsdp_state_dict_type",
          "fsdp_use_orig_params",
          "fsdp_cpu_ram_efficient_loading",
          "fsdp_sync_module_states",
          "fsdp_activation_checkpointing",
          "fsdp_activation_checkpointing_offload",
          "fsdp_ignored_modules"};
}

std::vector<std::string> parallelism_keys() {
  return {"parallelism_config_dp_replicate_size",
          "parallelism_config_dp_shard_size",
          "parallelism_config_tp_size",
          "parallelism_config_cp_size",
          "parallelism_config_cp_backend",
          "parallelism_config_cp_comm_strategy",
          "parallelism_config_sp_size",
          "parallelism_config_sp_backend",
          "parallelism_config_sp_seq_length",
          "parallelism_config_sp_seq_length_is_variable",
          "parallelism_config_sp_attn_implementation"};
}

std::vector<std::string> dynamo_keys() {
  return {"dynamo_backend", "dynamo_mode", "dynamo_use_fullgraph", "dynamo_use_dynamic",
          "dynamo_use_regional_compilation"};
}

std::vector<Key> make_keys() {
  using C = LaunchConfig;
  return {
      {"compute_environment", &C::compute_environment, "where the job runs", {"LOCAL_MACHINE", "AMAZON_SAGEMAKER"}},
      {"distributed_type",
       &C::distributed_type,
       "device of the processes and kind of parallelism",
       {"NO", "MULTI_CPU", "MULTI_GPU", "MULTI_NPU", "MULTI_MLU", "MULTI_SDAA", "MULTI_MUSA", "MULTI_XPU", "DEEPSPEED",
        "FSDP", "XLA", "MEGATRON_LM", "MULTI_HPU", "MULTI_NEURON"}},
      {"mixed_precision", &C::mixed_precision, "precision of the computation", {"no", "fp16", "bf16", "fp8"}},
      {"use_cpu", &C::use_cpu, "use the CPU even if there is a GPU"},
      {"debug", &C::debug, "compare the collectives of the processes before running them"},
      {"num_processes", &C::num_processes, "processes of all machines together", {}, 1},
      {"machine_rank", &C::machine_rank, "rank of this machine, from 0", {}, 0},
      {"num_machines", &C::num_machines, "number of machines", {}, 1},
      {"gpu_ids", &C::gpu_ids, "GPUs of this machine to use: all, or numbers separated by commas"},
      {"main_process_ip", &C::main_process_ip, "address of machine 0"},
      {"main_process_port", &C::main_process_port, "port of machine 0 for the rendezvous", {}, 0, 65535},
      {"rdzv_backend", &C::rdzv_backend, "how the machines find each other: static, c10d, ..."},
      {"same_network", &C::same_network, "all machines are on one local network"},
      {"main_training_function", &C::main_training_function, "function that Python starts on a TPU"},
      {"enable_cpu_affinity", &C::enable_cpu_affinity, "bind each process to the cores near its GPU"},
      {"fp8_config", &C::fp8_config, "settings of fp8, for Python"},
      {"deepspeed_config", &C::deepspeed_config, "settings of DeepSpeed, for Python"},
      {"fsdp_config", &C::fsdp_config, "settings of fully sharded data parallel", fsdp_keys()},
      {"parallelism_config", &C::parallelism_config, "sizes of each kind of parallelism", parallelism_keys()},
      {"megatron_lm_config", &C::megatron_lm_config, "settings of Megatron-LM, for Python"},
      {"mpirun_config", &C::mpirun_config, "settings of mpirun", {"mpirun_hostfile", "mpirun_ccl"}},
      {"downcast_bf16", &C::downcast_bf16, "cast to bf16 on a TPU, for Python", {"yes", "no"}},
      {"tpu_name", &C::tpu_name, "name of the TPU, for Python"},
      {"tpu_zone", &C::tpu_zone, "zone of the TPU, for Python"},
      {"tpu_use_cluster", &C::tpu_use_cluster, "the TPU is a pod, for Python"},
      {"tpu_use_sudo", &C::tpu_use_sudo, "use sudo in the pod, for Python"},
      {"command_file", &C::command_file, "file of commands for the pod, for Python"},
      {"commands", &C::commands, "commands for the pod, for Python"},
      {"tpu_vm", &C::tpu_vm, "machines of the pod, for Python"},
      {"tpu_env", &C::tpu_env, "environment variables of the pod, for Python"},
      {"dynamo_config", &C::dynamo_config, "settings of torch.compile, for Python programs", dynamo_keys()},
  };
}

}  // namespace

const std::vector<Key>& keys() {
  static const std::vector<Key> kAll = make_keys();
  return kAll;
}

const Key* find_key(std::string_view name) {
  auto found = std::find_if(keys().begin(), keys().end(), [&](const Key& key) { return key.name == name; });
  return found == keys().end() ? nullptr : &*found;
}

}  // namespace accelerate::config
