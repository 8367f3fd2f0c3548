#pragma once

// A tracker that writes metrics as JSON lines. It has no dependencies, and its files survive a killed process.

#include <filesystem>
#include <optional>

#include "accelerate/tracking/append_file.h"
#include "accelerate/tracking/tracker.h"

namespace accelerate::tracking {

/// Writes directory/metrics.jsonl with one line {"step": 3, "time": 1700000000.5, "loss": 0.25} per log(), and
/// directory/config.json. A resumed run appends to the same file.
class JsonlTracker : public Tracker {
 public:
  explicit JsonlTracker(std::filesystem::path directory) : directory_(std::move(directory)) {}

  std::string name() const override { return "jsonl"; }
  void start() override;
  void store_init_configuration(const Values& config) override;
  void log(const Values& values, std::optional<int64_t> step) override;
  void finish() override { file_.reset(); }

 private:
  std::filesystem::path directory_;
  std::optional<AppendFile> file_;
};

}  // namespace accelerate::tracking
