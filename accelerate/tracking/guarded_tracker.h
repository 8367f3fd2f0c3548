#pragma once

// A tracker that cannot stop a training.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "accelerate/tracking/tracker.h"

namespace accelerate::tracking {

/// Passes everything on to `tracker`. When that throws, there is one warning with the reason, and it is left in peace
/// for a second, then for two, four, up to five minutes, before it is tried again; calls in between are lost and
/// counted. An inactive one, on a process that has nothing to say to the tracker, ignores everything.
class GuardedTracker final : public Tracker {
 public:
  explicit GuardedTracker(std::shared_ptr<Tracker> tracker, bool active = true,
                          std::chrono::milliseconds first_pause = std::chrono::seconds(1));

  std::string name() const override { return tracker_->name(); }
  bool main_process_only() const override { return tracker_->main_process_only(); }

  void start() override;
  void store_init_configuration(const Values& config) override;
  void log(const Values& values, std::optional<int64_t> step) override;
  void log_images(const Images& images, std::optional<int64_t> step) override;
  void log_histograms(const Histograms& histograms, std::optional<int64_t> step) override;
  void finish() override;

 private:
  using Clock = std::chrono::steady_clock;

  void attempt(const std::function<void()>& call = nullptr);
  void catch_up();
  void note_failure(const std::string& reason);

  std::shared_ptr<Tracker> tracker_;
  bool active_;
  bool started_ = false;
  std::optional<Values> pending_config_;  // not yet stored, for the tracker could not
  std::chrono::milliseconds first_pause_;
  std::chrono::milliseconds pause_;  // after the next failure
  Clock::time_point retry_at_ = Clock::time_point::min();
  bool warned_ = false;
  int64_t num_lost_ = 0;
};

}  // namespace accelerate::tracking
