#pragma once

// The options of an Accelerator.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/data/prepare_options.h"
#include "accelerate/parallel/data_parallel_options.h"
#include "accelerate/precision/autocast.h"
#include "accelerate/precision/grad_scaler.h"
#include "accelerate/precision/mixed_precision.h"
#include "accelerate/profile.h"
#include "accelerate/tracking/tracker_options.h"

namespace accelerate {

using tracking::MlflowOptions;
using tracking::Tracker;
using tracking::WandbOptions;

/// The directories of a run and the naming of its checkpoints.
struct ProjectConfiguration {
  std::filesystem::path project_dir = {};    // directory of checkpoints; empty: not set
  std::filesystem::path logging_dir = {};    // directory of tracker files; empty: project_dir
  bool automatic_checkpoint_naming = false;  // save_state() creates project_dir/checkpoints/checkpoint_<iteration>
  std::optional<int64_t> total_limit = std::nullopt;  // number of these checkpoints to keep, the newest; at least 1
  int64_t iteration = 0;                              // the number of the next checkpoint
  bool save_on_each_node = false;  // one process per machine writes, for disks that are not shared: see resume.md
};

struct InitTrackersOptions {
  MlflowOptions mlflow = {};
  WandbOptions wandb = {};
};

struct GradientAccumulationPlugin {
  std::optional<int64_t> num_steps = std::nullopt;  // else ACCELERATE_GRADIENT_ACCUMULATION_STEPS, else 1
  bool sync_with_dataloader = true;                 // the last batch of a loader ends a window, full or not
  bool sync_each_batch = false;    // average over ranks after every backward: less memory, more traffic
  bool scale_last_window = false;  // divide an incomplete last window by its actual length
};

struct AcceleratorOptions {
  bool device_placement = true;                                  // move models and batches to the device
  std::optional<MixedPrecision> mixed_precision = std::nullopt;  // else ACCELERATE_MIXED_PRECISION, else none
  std::optional<int64_t> gradient_accumulation_steps = std::nullopt;
  bool cpu = false;
  DataLoaderConfiguration dataloader_config = {};
  GradientAccumulationPlugin gradient_accumulation_plugin = {};
  bool step_scheduler_with_optimizer = true;  // schedulers advance once per process and optimizer step
  bool fused_optimizers = true;               // AdamW, Adam and SGD use libtorch's fused kernels
  // ZeRO stage, DeepSpeed's term. 0: each rank steps all parameters. 1: each rank steps its shard, and ranks keep the
  // optimizer's state once; results are the same. 2: each rank also keeps only its shard of the averaged gradients.
  // Default: ACCELERATE_ZERO_STAGE, else 1 if that is safe and pays: AdamW and Adam on ranks of one machine.
  std::optional<int64_t> zero_stage = std::nullopt;
  // Ranks divide the work of clip_grad_norm_, which is then collective. The norm is a by-product of the gradients'
  // all-reduce, or each rank computes the norm of its shard. It differs by rounding. With sharded optimizers a rank
  // scales only its shard of the gradients.
  bool shared_clipping = false;
  std::vector<std::string> rng_types = {"generator"};  // loaders copy these from rank 0 when an epoch begins
  // "jsonl", "csv", "tensorboard", "wandb", "mlflow", "all", or custom trackers
  std::vector<tracking::LogWith> log_with = {};
  std::filesystem::path project_dir = {};  // short for project_config.project_dir
  ProjectConfiguration project_config = {};
  DistributedDataParallelKwargs distributed_data_parallel = {};
  GradScalerKwargs grad_scaler = {};
  AutocastKwargs autocast = {};
  ProfileKwargs profile = {};
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;  // of each collective
  std::string backend = {};      // transport: auto, shm, gloo or nccl; else ACCELERATE_COMM, else auto
  std::string init_method = {};  // rendezvous: env:// (the default), tcp://host:port or file:///path
};

}  // namespace accelerate
