#pragma once

// A tracker that writes TensorBoard event files.

#include <filesystem>
#include <map>
#include <memory>
#include <string>

#include "accelerate/tracking/append_file.h"
#include "accelerate/tracking/tracker.h"

namespace accelerate::tracking {

class EventSummary;

/// Writes event files below `directory` like Python's TensorBoardTracker. Numbers become scalars and texts become
/// texts. A map of numbers becomes the curves of one chart, each in a run directory/<name>_<part>. The configuration
/// becomes hyperparameters in a directory named after the time, with a hparams.yml. Every log() is written at once.
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
  void write(const std::filesystem::path& directory, const EventSummary& summary, std::optional<int64_t> step);

  std::filesystem::path directory_;
  std::map<std::filesystem::path, std::unique_ptr<AppendFile>> runs_;  // the event file of each directory
};

}  // namespace accelerate::tracking
