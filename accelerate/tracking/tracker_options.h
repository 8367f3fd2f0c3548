#pragma once

// Which trackers a program asks for, and their options.

#include <chrono>
#include <concepts>
#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "accelerate/tracking/tracker.h"

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

struct MlflowOptions {
  std::string tracking_uri = {};     // default: MLFLOW_TRACKING_URI, then http://127.0.0.1:5000
  std::string experiment_name = {};  // default: MLFLOW_EXPERIMENT_NAME, then the project name
  std::string run_name = {};         // default: chosen by MLflow
  std::string run_id = {};           // an existing run to continue; default: MLFLOW_RUN_ID
  std::map<std::string, std::string> tags = {};
  std::chrono::milliseconds timeout = std::chrono::seconds(5);        // of one request
  std::chrono::milliseconds send_interval = std::chrono::seconds(1);  // metrics are batched in between
};

/// The arguments of wandb.init that apply offline.
struct WandbOptions {
  std::string entity = {};             // user or team; default: WANDB_ENTITY, then the user who uploads
  std::string name = {};               // default: WANDB_NAME, then chosen by W&B
  std::string id = {};                 // continues that run if it exists; default: WANDB_RUN_ID, then a new id
  std::string group = {};              // default: WANDB_RUN_GROUP
  std::string job_type = {};           // default: WANDB_JOB_TYPE
  std::vector<std::string> tags = {};  // default: WANDB_TAGS, separated by commas
  std::string notes = {};              // default: WANDB_NOTES
  std::filesystem::path dir = {};      // default: WANDB_DIR, then the current directory
  std::string mode = {};               // default: WANDB_MODE, then offline; disabled writes nothing
};

}  // namespace accelerate::tracking
