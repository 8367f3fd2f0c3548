#pragma once

// Creates trackers from the names in log_with.

#include <concepts>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "accelerate/tracking/mlflow_tracker.h"
#include "accelerate/tracking/tracker.h"
#include "accelerate/tracking/wandb_tracker.h"

namespace accelerate::tracking {

/// A tracker to log with: "jsonl", "csv", "tensorboard", "wandb", "mlflow", "all", or a user-defined object.
class LogWith {
 public:
  LogWith(const char* name) : choice_(std::string(name)) {}
  LogWith(std::string name) : choice_(std::move(name)) {}
  template <std::derived_from<Tracker> T>
  LogWith(std::shared_ptr<T> tracker) : choice_(std::shared_ptr<Tracker>(std::move(tracker))) {}

  const std::variant<std::string, std::shared_ptr<Tracker>>& choice() const { return choice_; }

 private:
  std::variant<std::string, std::shared_ptr<Tracker>> choice_;
};

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
