#pragma once

// The set of trackers of a run, behind one interface.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/tracking/guarded_tracker.h"
#include "accelerate/tracking/make_trackers.h"

namespace accelerate::tracking {

/// Forwards all calls to the trackers that are active on this process. Each is guarded: no call below throws because a
/// tracker fails.
class Trackers {
 public:
  Trackers() = default;
  Trackers(const Trackers&) = delete;
  Trackers& operator=(const Trackers&) = delete;
  ~Trackers() { finish(); }

  /// Creates the trackers and stores the configuration. Finishes earlier trackers first. All processes call it with the
  /// same arguments. Throws what make_trackers throws.
  void init(const std::vector<LogWith>& log_with, const TrackerSettings& settings, const Values& config,
            bool is_main_process);

  /// Whether values logged on this process are stored.
  bool active() const { return active_; }
  bool initialized() const { return !trackers_.empty(); }

  void log(const Values& values, std::optional<int64_t> step);
  void log_images(const Images& images, std::optional<int64_t> step);
  void log_histograms(const Histograms& histograms, std::optional<int64_t> step);

  /// The tracker with that name. On processes where it is inactive it ignores all calls. Throws Error with the known
  /// names if there is no such tracker.
  Tracker& get(const std::string& name);

  /// Ends the run and removes all trackers.
  void finish();

 private:
  std::vector<std::unique_ptr<GuardedTracker>> trackers_;
  bool active_ = false;
};

}  // namespace accelerate::tracking
