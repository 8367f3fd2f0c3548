#pragma once

// All trackers of a run, spoken to as one.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/tracking/guarded_tracker.h"
#include "accelerate/tracking/make_trackers.h"

namespace accelerate::tracking {

/// Passes everything on to the trackers of a run that have something to do on this process, each guarded: none of the
/// calls below throws because a tracker fails.
class Trackers {
 public:
  Trackers() = default;
  Trackers(const Trackers&) = delete;
  Trackers& operator=(const Trackers&) = delete;
  ~Trackers() { finish(); }

  /// Makes the trackers and tells them the configuration; earlier ones are finished first. Every process calls it with
  /// the same arguments. Throws what make_trackers throws.
  void init(const std::vector<LogWith>& log_with, const TrackerSettings& settings, const Values& config,
            bool is_main_process);

  /// Whether something that is logged on this process is kept.
  bool active() const { return active_; }
  bool initialized() const { return !trackers_.empty(); }

  void log(const Values& values, std::optional<int64_t> step);
  void log_images(const Images& images, std::optional<int64_t> step);
  void log_histograms(const Histograms& histograms, std::optional<int64_t> step);

  /// The tracker of that name; on a process that it does not concern, one that ignores everything. Throws Error with
  /// the known names for another one.
  Tracker& get(const std::string& name);

  /// Ends the run. Further calls find no trackers.
  void finish();

 private:
  std::vector<std::unique_ptr<GuardedTracker>> trackers_;
  bool active_ = false;
};

}  // namespace accelerate::tracking
