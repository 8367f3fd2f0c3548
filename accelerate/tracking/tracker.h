#pragma once

// What every tracker does. Derive from it to send the metrics of a run to a place of your own.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "accelerate/tracking/value.h"

namespace accelerate::tracking {

/// Pixels of 8 bits per channel: height x width x channels values, row by row from the top; 1 (grey), 3 (RGB) or 4
/// (RGBA) channels.
struct Image {
  int64_t height = 0;
  int64_t width = 0;
  int64_t channels = 1;
  std::vector<uint8_t> pixels = {};
};

using Images = std::vector<std::pair<std::string, Image>>;
using Histograms = std::vector<std::pair<std::string, std::vector<double>>>;  // the numbers themselves, by name

/// Takes the metrics of a run to one place. An Accelerator calls it from the thread that trains. A function that throws
/// costs the run a warning and what was to be written, nothing more: see GuardedTracker.
class Tracker {
 public:
  virtual ~Tracker() = default;

  /// The word that users know it by.
  virtual std::string name() const = 0;

  /// Opens what it writes to: called before everything below, and again later if it throws. Constructing a tracker
  /// leaves no trace yet.
  virtual void start() {}

  /// Keeps the settings of the run.
  virtual void store_init_configuration(const Values& config) = 0;

  /// Keeps values of one moment. What has been logged is kept even if the process is killed right after.
  virtual void log(const Values& values, std::optional<int64_t> step) = 0;

  /// Keeps images. A tracker without a place for them ignores them.
  virtual void log_images(const Images& images, std::optional<int64_t> step) {}

  /// Keeps the distribution of numbers. A tracker without a place for them ignores them.
  virtual void log_histograms(const Histograms& histograms, std::optional<int64_t> step) {}

  /// Ends the run.
  virtual void finish() {}

  /// Whether only the main process of a job has something to say to it.
  virtual bool main_process_only() const { return true; }
};

}  // namespace accelerate::tracking
