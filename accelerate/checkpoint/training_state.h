#pragma once

// Everything that a checkpoint saves.

#include <memory>
#include <vector>

#include "accelerate/checkpoint/save_state.h"
#include "accelerate/data/prepared_core.h"
#include "accelerate/precision/grad_scaler.h"
#include "accelerate/train/gradient_state.h"
#include "accelerate/train/optimizer.h"
#include "accelerate/train/scheduler.h"

namespace accelerate::checkpoint {

/// All members are handles: copying a TrainingState does not copy the training state.
struct TrainingState {
  Models models = {};
  std::vector<train::Optimizer> optimizers = {};
  std::vector<train::Scheduler> schedulers = {};
  std::vector<std::shared_ptr<data::PreparedCore>> loaders = {};
  std::shared_ptr<precision::GradScaler> scaler = {};  // null unless fp16
  std::shared_ptr<train::GradientState> gradient_state = {};
  std::vector<CustomObject> objects = {};
};

}  // namespace accelerate::checkpoint
