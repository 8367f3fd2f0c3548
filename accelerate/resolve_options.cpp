#include "accelerate/resolve_options.h"

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/comm/connection.h"
#include "accelerate/comm/reduction_watch.h"

namespace accelerate {

namespace {

/// Why ranks cannot shard gradients; empty if they can.
std::string obstacle_to_sharing_gradients(const AcceleratorOptions& options, precision::MixedPrecision precision,
                                          const comm::Group& group) {
  const auto& replicas = options.distributed_data_parallel;
  if (precision == precision::MixedPrecision::Fp16) {
    return "mixed_precision is fp16, whose scaler reads complete gradients; use bf16";
  }
  if (!replicas.gradient_as_bucket_view.value_or(true)) return "gradient_as_bucket_view is false; leave it unset";
  if (replicas.comm_hook != CommHook::No) return "gradients are reduced by a comm_hook; omit it";
  if (options.gradient_accumulation_plugin.sync_each_batch) {
    return "sync_each_batch averages gradients before the window ends; omit it";
  }
  if (group.debug()) return "the debug mode compares all collectives, so ranks do not share memory; turn it off";
  if (!comm::ReductionWatch::possible(group)) {
    return std::string("ranks talk over ") + comm::to_string(group.connection()->transport()) +
           "; it needs ranks of one machine that share memory (ACCELERATE_COMM=shm)";
  }
  return {};
}

}  // namespace

precision::MixedPrecision resolve_precision(const AcceleratorOptions& options) {
  if (options.mixed_precision) return *options.mixed_precision;
  auto name = environment_variable("ACCELERATE_MIXED_PRECISION");
  return name && !name->empty() ? precision::parse_mixed_precision(*name) : precision::MixedPrecision::No;
}

ProjectConfiguration resolve_project(const AcceleratorOptions& options) {
  auto project = options.project_config;
  if (!options.project_dir.empty() && !project.project_dir.empty() && options.project_dir != project.project_dir) {
    fail("project_dir is ", options.project_dir, " and project_config.project_dir is ", project.project_dir,
         "; set one of them");
  }
  if (project.project_dir.empty()) project.project_dir = options.project_dir;
  if (project.logging_dir.empty()) project.logging_dir = project.project_dir;
  if (project.total_limit && *project.total_limit < 1) {
    fail("total_limit is ", *project.total_limit,
         "; it must be at least 1, which keeps only the newest checkpoint, as Python also does with 0");
  }
  return project;
}

int64_t resolve_accumulation_steps(const AcceleratorOptions& options) {
  const auto& plugin = options.gradient_accumulation_plugin;
  if (options.gradient_accumulation_steps && plugin.num_steps) {
    fail("gradient_accumulation_steps is ", *options.gradient_accumulation_steps,
         " and gradient_accumulation_plugin.num_steps is ", *plugin.num_steps, "; set one of them");
  }
  if (options.gradient_accumulation_steps) return *options.gradient_accumulation_steps;
  if (plugin.num_steps) return *plugin.num_steps;
  return environment_integer({"ACCELERATE_GRADIENT_ACCUMULATION_STEPS"}).value_or(1);
}

std::optional<int64_t> resolve_zero_stage(const AcceleratorOptions& options) {
  const auto stage = options.zero_stage ? options.zero_stage : environment_integer({"ACCELERATE_ZERO_STAGE"});
  if (!stage || (*stage >= 0 && *stage <= 2)) return stage;
  fail("zero_stage is ", *stage, "; it can be 0, 1 or 2. Parameters (3) are never sharded");
}

void check_gradient_sharding(const AcceleratorOptions& options, precision::MixedPrecision precision,
                             const comm::Group& group) {
  const auto obstacle = obstacle_to_sharing_gradients(options, precision, group);
  if (!obstacle.empty()) fail("zero_stage is 2, but ", obstacle, ", or zero_stage = 1");
}

}  // namespace accelerate
