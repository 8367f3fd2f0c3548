#include "cli/questionnaire.h"

#include "accelerate/base/error.h"

namespace accelerate::cli {

namespace {

using config::Section;
using config::Value;

std::string choose_text(Prompt& prompt, const std::string& question, const std::vector<std::string>& options) {
  return options[prompt.choose(question, options)];
}

void ask_wrapping(Prompt& prompt, Section& fsdp) {
  auto policy = choose_text(prompt, "Which parts of the model are the units of sharding?",
                            {"TRANSFORMER_BASED_WRAP", "SIZE_BASED_WRAP", "NO_WRAP"});
  fsdp["fsdp_auto_wrap_policy"] = policy;
  if (policy == "SIZE_BASED_WRAP") {
    fsdp["fsdp_min_num_params"] = prompt.ask_integer("Minimum number of parameters of a unit?", 100000000, 0);
  }
  if (policy != "TRANSFORMER_BASED_WRAP") return;
  if (prompt.ask_yes_no("Use the blocks that the model itself names (_no_split_modules)?", false)) return;
  auto names = prompt.ask("Which classes are the units, separated by commas?");
  fsdp["fsdp_transformer_layer_cls_to_wrap"] = names.empty() ? Value() : Value(names);
}

/// What the second version decides by itself.
void ask_first_version(Prompt& prompt, Section& fsdp) {
  fsdp["fsdp_forward_prefetch"] = prompt.ask_yes_no("Prefetch the next unit in the forward pass?", false);
  fsdp["fsdp_use_orig_params"] = prompt.ask_yes_no("Keep the original parameters of the model?", true);
}

void ask_loading(Prompt& prompt, Section& fsdp, bool first_version) {
  bool efficient = prompt.ask_yes_no("Read pretrained weights on one process only?", true);
  fsdp["fsdp_cpu_ram_efficient_loading"] = efficient;
  if (!first_version) return;
  fsdp["fsdp_sync_module_states"] =
      efficient || prompt.ask_yes_no("Broadcast the weights of rank 0 to the other ranks?", true);
}

void ask_parallelism(Prompt& prompt, Section& sizes) {
  if (!prompt.ask_yes_no("Set the sizes of several kinds of parallelism?", false)) return;
  sizes["parallelism_config_dp_replicate_size"] = prompt.ask_integer("Copies of the model?", 1, 1);
  sizes["parallelism_config_dp_shard_size"] = prompt.ask_integer("Processes that shard one copy?", 1, 1);
  sizes["parallelism_config_tp_size"] = prompt.ask_integer("Processes that shard one layer?", 1, 1);
  auto context = prompt.ask_integer("Processes that shard one sequence?", 1, 1);
  sizes["parallelism_config_cp_size"] = context;
  if (context == 1) return;
  sizes["parallelism_config_cp_comm_strategy"] =
      choose_text(prompt, "How do they exchange their shards?", {"allgather", "alltoall"});
}

}  // namespace

bool ask_fsdp(Prompt& prompt, config::LaunchConfig& config) {
  if (!prompt.ask_yes_no("Shard the model over the processes (FSDP)?", false)) return false;
  if (config.distributed_type == "MULTI_NEURON") fail("FSDP does not run on Neuron cores; answer no to that question");
  config.distributed_type = "FSDP";
  auto& fsdp = config.fsdp_config;
  bool first_version = prompt.choose("Which version of FSDP?", {"1", "2"}, 1) == 0;
  fsdp["fsdp_version"] = first_version ? int64_t{1} : int64_t{2};
  if (first_version) {
    fsdp["fsdp_reshard_after_forward"] = choose_text(
        prompt, "What is sharded?", {"FULL_SHARD", "SHARD_GRAD_OP", "NO_SHARD", "HYBRID_SHARD", "HYBRID_SHARD_ZERO2"});
  } else {
    fsdp["fsdp_reshard_after_forward"] = prompt.ask_yes_no("Free the gathered weights after the forward pass?", true);
  }
  fsdp["fsdp_offload_params"] = prompt.ask_yes_no("Offload parameters and gradients to the CPU?", false);
  ask_wrapping(prompt, fsdp);
  if (first_version) {
    fsdp["fsdp_backward_prefetch"] = choose_text(prompt, "When is the next unit prefetched in the backward pass?",
                                                 {"BACKWARD_PRE", "BACKWARD_POST", "NO_PREFETCH"});
  }
  std::vector<std::string> states = {"FULL_STATE_DICT", "LOCAL_STATE_DICT", "SHARDED_STATE_DICT"};
  if (!first_version) states = {"SHARDED_STATE_DICT", "FULL_STATE_DICT"};
  fsdp["fsdp_state_dict_type"] = choose_text(prompt, "How is the model saved?", states);
  if (first_version) ask_first_version(prompt, fsdp);
  ask_loading(prompt, fsdp, first_version);
  fsdp["fsdp_activation_checkpointing"] =
      prompt.ask_yes_no("Recompute activations instead of keeping them (activation checkpointing)?", false);
  if (!first_version) ask_parallelism(prompt, config.parallelism_config);
  return true;
}

}  // namespace accelerate::cli
