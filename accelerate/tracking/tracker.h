#pragma once

// The interface of all trackers. Derive from it to send the metrics of a run to a custom destination.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accelerate/tracking/value.h"

namespace accelerate::tracking {

/// An image with 8 bits per channel: height x width x channels values in row-major order from the top. It has 1 (grey),
/// 3 (RGB) or 4 (RGBA) channels.
struct Image {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 1;
  std::vector<uint8_t> pixels = {};
};

using Images = std::vector<std::pair<std::string, Image>>;
using Histograms = std::vector<std::pair<std::string, std::vector<double>>>;  // raw values by name

/// Sends the metrics of a run to one destination. An Accelerator calls it from the training thread. If a function
/// throws, the run continues with a warning and loses what was to be written: see GuardedTracker.
class Tracker {
 public:
  virtual ~Tracker() = default;

  /// The name by which users refer to it.
  virtual std::string name() const = 0;

  /// Opens the destination. Called before all functions below, and again later if it throws. The constructor must have
  /// no side effects.
  virtual void start() {}

  /// Stores the settings of the run.
  virtual void store_init_configuration(const Values& config) = 0;

  /// Logs values of one step. The trackers for files (jsonl, csv, tensorboard) write them before this returns, so the
  /// values survive a killed process. mlflow sends batches: values wait until a later call finds that send_interval has
  /// passed. wandb writes the row of a step when the next step begins. finish() writes what is left.
  virtual void log(const Values& values, std::optional<int64_t> step) = 0;

  /// Logs images. Ignored by trackers that do not support them.
  virtual void log_images(const Images& images, std::optional<int64_t> step) {}

  /// Logs the distribution of numbers. Ignored by trackers that do not support it.
  virtual void log_histograms(const Histograms& histograms, std::optional<int64_t> step) {}

  /// Ends the run.
  virtual void finish() {}

  /// Whether only the main process of a job logs to it.
  virtual bool main_process_only() const { return true; }
};

}  // namespace accelerate::tracking
