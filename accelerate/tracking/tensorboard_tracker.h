#pragma once

// Metrics for TensorBoard.

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "accelerate/tracking/append_file.h"
#include "accelerate/tracking/tracker.h"

namespace accelerate::formats {
class EventSummary;
}

namespace accelerate::tracking {

/// Writes event files below `directory` as Python's TensorBoardTracker does: numbers as scalars, texts as texts, a map
/// of numbers as curves of one chart (each in a run directory/<name>_<part>), and the configuration as hyperparameters
/// in a directory named after the time, together with a hparams.yml. Every log() reaches the file at once.
class TensorBoardTracker : public Tracker {
 public:
  explicit TensorBoardTracker(std::filesystem::path directory) : directory_(std::move(directory)) {}

  std::string name() const override { return "tensorboard"; }
  void start() override { run(directory_); }
  void store_init_configuration(const Values& config) override;
  void log(const Values& values, std::optional<int64_t> step) override;
  void log_images(const Images& images, std::optional<int64_t> step) override;
  void log_histograms(const Histograms& histograms, std::optional<int64_t> step) override;
  void finish() override { runs_.clear(); }

 private:
  AppendFile& run(const std::filesystem::path& directory);
  void write(const std::filesystem::path& directory, const formats::EventSummary& summary, std::optional<int64_t> step);

  std::filesystem::path directory_;
  std::map<std::filesystem::path, std::unique_ptr<AppendFile>> runs_;  // the event file of each directory
};

}  // namespace accelerate::tracking
