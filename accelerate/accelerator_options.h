#pragma once

// What a user can ask of an Accelerator.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/data/prepare_options.h"
#include "accelerate/parallel/replicas.h"
#include "accelerate/precision/autocast.h"
#include "accelerate/precision/grad_scaler.h"
#include "accelerate/precision/mixed_precision.h"
#include "accelerate/profile.h"
#include "accelerate/project_configuration.h"
#include "accelerate/tracking/make_trackers.h"

namespace accelerate {

using tracking::MlflowOptions;
using tracking::Tracker;
using tracking::WandbOptions;

struct InitTrackersOptions {
  MlflowOptions mlflow = {};
  WandbOptions wandb = {};
};

struct GradientAccumulationPlugin {
  std::optional<int64_t> num_steps = std::nullopt;  // else ACCELERATE_GRADIENT_ACCUMULATION_STEPS, else 1
  bool sync_with_dataloader = true;                 // the last batch of a loader ends a window, full or not
  bool sync_each_batch = false;    // average over ranks after every backward: less memory, more traffic
  bool scale_last_window = false;  // divide an incomplete last window by its real length
};

struct AcceleratorOptions {
  bool device_placement = true;                                  // move models and batches to the device
  std::optional<MixedPrecision> mixed_precision = std::nullopt;  // else ACCELERATE_MIXED_PRECISION, else none
  std::optional<int64_t> gradient_accumulation_steps = std::nullopt;
  bool cpu = false;
  DataLoaderConfiguration dataloader_config = {};
  GradientAccumulationPlugin gradient_accumulation_plugin = {};
  bool step_scheduler_with_optimizer = true;  // schedulers advance once per process and optimizer step
  bool fused_optimizers = true;               // AdamW, Adam and SGD step through libtorch's fused kernels
  // 1: each rank steps its share of the parameters, and the ranks keep the optimizer's state once; results are the
  // same. 2: each rank also keeps its share of the averaged gradients only. 0: each steps all of it. Else
  // ACCELERATE_ZERO_STAGE, else 1 where that is safe and pays: AdamW and Adam on ranks of one machine. DeepSpeed's
  // word.
  std::optional<int64_t> zero_stage = std::nullopt;
  // Ranks share the work of clip_grad_norm_, which is collective then: the norm comes out of the reduction of
  // gradients, or each rank looks at its share. It differs by rounding, and where optimizers are sharded, a rank scales
  // its share of the gradients only.
  bool shared_clipping = false;
  std::vector<std::string> rng_types = {"generator"};  // what loaders copy from rank 0 when an epoch begins
  // "jsonl", "csv", "tensorboard", "wandb", "mlflow", "all", or own trackers
  std::vector<tracking::LogWith> log_with = {};
  std::filesystem::path project_dir = {};  // short for project_config.project_dir
  ProjectConfiguration project_config = {};
  DistributedDataParallelKwargs distributed_data_parallel = {};
  GradScalerKwargs grad_scaler = {};
  AutocastKwargs autocast = {};
  ProfileKwargs profile = {};
  std::optional<std::chrono::milliseconds> timeout = std::nullopt;  // of every collective
  std::string backend = {};      // how ranks talk: auto, shm, gloo or nccl; else ACCELERATE_COMM, else auto
  std::string init_method = {};  // where they find each other: env:// (the default), tcp://host:port or file:///path
};

}  // namespace accelerate
