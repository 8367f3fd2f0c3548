#pragma once

// Creates trackers from the names in log_with.

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "accelerate/tracking/tracker.h"
#include "accelerate/tracking/tracker_options.h"

namespace accelerate::tracking {

struct TrackerSettings {
  std::string project_name = {};
  std::filesystem::path logging_dir = {};  // files go to logging_dir/project_name, except for wandb
  MlflowOptions mlflow = {};
  WandbOptions wandb = {};
};

/// Creates the trackers of the list without duplicates. An empty list means JSON lines. "all" means every tracker that
/// writes to logging_dir, mlflow if MLFLOW_TRACKING_URI is set, and wandb if WANDB_MODE is offline. The trackers are
/// not started: they have not written or requested anything. Throws Error for an unknown name, two objects with the
/// same name, or a missing logging_dir.
std::vector<std::shared_ptr<Tracker>> make_trackers(const std::vector<LogWith>& log_with,
                                                    const TrackerSettings& settings);

}  // namespace accelerate::tracking
