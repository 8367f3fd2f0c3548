#include "accelerate/tracking/make_trackers.h"

#include <algorithm>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"
#include "accelerate/base/text.h"
#include "accelerate/tracking/file_trackers.h"
#include "accelerate/tracking/mlflow_tracker.h"
#include "accelerate/tracking/settings.h"
#include "accelerate/tracking/tensorboard_tracker.h"
#include "accelerate/tracking/wandb_tracker.h"

namespace accelerate::tracking {

namespace {

std::filesystem::path run_directory(const std::string& tracker, const TrackerSettings& settings) {
  if (settings.logging_dir.empty()) {
    fail("the tracker '", tracker,
         "' writes files, but there is no logging_dir; give the Accelerator a project_dir, or "
         "project_config.logging_dir");
  }
  const std::filesystem::path project = settings.project_name;
  if (project.is_absolute() || escapes_directory(project)) {
    fail("init_trackers: the project name is '", settings.project_name,
         "', which is outside of logging_dir; give a name below it, and choose the directory with "
         "project_config.logging_dir");
  }
  return settings.logging_dir / project;
}

[[noreturn]] void fail_unknown(const std::string& name) {
  auto nearest = nearest_name(name, {"jsonl", "csv", "tensorboard", "wandb", "mlflow", "all"});
  fail("log_with has '", name,
       "', which is not a tracker; it can have jsonl, csv, tensorboard, wandb, mlflow, all, or an object",
       nearest.empty() ? "" : ". Did you mean '" + nearest + "'?");
}

std::shared_ptr<Tracker> make_tracker(const std::string& name, const TrackerSettings& settings) {
  if (name == "jsonl") return std::make_shared<JsonlTracker>(run_directory(name, settings));
  if (name == "csv") return std::make_shared<CsvTracker>(run_directory(name, settings));
  if (name == "tensorboard") return std::make_shared<TensorBoardTracker>(run_directory(name, settings));
  if (name == "mlflow") return std::make_shared<MlflowTracker>(settings.project_name, settings.mlflow);
  if (name == "wandb") return std::make_shared<WandbTracker>(settings.project_name, settings.wandb);
  fail_unknown(name);
}

/// Expands "all".
std::vector<LogWith> spelled_out(const std::vector<LogWith>& log_with) {
  if (log_with.empty()) return {"jsonl"};
  std::vector<LogWith> list;
  for (const auto& entry : log_with) {
    auto* name = std::get_if<std::string>(&entry.choice());
    if (!name || *name != "all") {
      list.push_back(entry);
      continue;
    }
    for (const char* each : {"jsonl", "csv", "tensorboard"}) list.emplace_back(each);
    if (environment_variable("MLFLOW_TRACKING_URI")) list.emplace_back("mlflow");
    if (environment_variable("WANDB_MODE") == "offline") list.emplace_back("wandb");
  }
  return list;
}

}  // namespace

std::vector<std::shared_ptr<Tracker>> make_trackers(const std::vector<LogWith>& log_with,
                                                    const TrackerSettings& settings) {
  std::vector<std::shared_ptr<Tracker>> trackers;
  auto has = [&](const std::string& name) {
    return std::any_of(trackers.begin(), trackers.end(), [&](const auto& known) { return known->name() == name; });
  };
  for (const auto& entry : spelled_out(log_with)) {
    if (auto* name = std::get_if<std::string>(&entry.choice())) {
      if (!has(*name)) trackers.push_back(make_tracker(*name, settings));
      continue;
    }
    const auto& object = std::get<std::shared_ptr<Tracker>>(entry.choice());
    if (!object) fail("log_with has a null pointer instead of a tracker");
    if (has(object->name())) {
      fail("log_with has two trackers with the name '", object->name(), "'; get_tracker needs unique names");
    }
    trackers.push_back(object);
  }
  return trackers;
}

}  // namespace accelerate::tracking
