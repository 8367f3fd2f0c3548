#pragma once

// The trackers of a run behind one interface. A failing tracker does not stop the training.

#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/tracking/make_trackers.h"
#include "accelerate/tracking/tracker.h"

namespace accelerate::tracking {

/// Forwards all calls to `tracker`. If it throws, warns once with the reason and retries with exponential back-off,
/// from 1 s to 5 min. Calls in between are dropped and counted. The configuration is retried in the same way and
/// separately, so a tracker that refuses it still gets the other calls. An inactive tracker ignores all calls: on this
/// process the wrapped one has nothing to do.
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
  /// Retries an operation with exponential back-off, and warns about the first failure.
  class Attempts {
   public:
    explicit Attempts(std::chrono::milliseconds first_pause) : first_pause_(first_pause), pause_(first_pause) {}

    bool may_try() const { return Clock::now() >= retry_at_; }
    void try_at_once() { retry_at_ = Clock::time_point::min(); }
    /// Returns whether `work` succeeded. On the first exception, logs `complaint` and the reason.
    bool run(const std::function<void()>& work, const std::string& complaint);

   private:
    using Clock = std::chrono::steady_clock;

    void note_failure(const std::string& complaint, const std::string& reason);

    std::chrono::milliseconds first_pause_;
    std::chrono::milliseconds pause_;  // after the next failure
    Clock::time_point retry_at_ = Clock::time_point::min();
    bool warned_ = false;
  };

  void attempt(const std::function<void()>& call = nullptr);
  void start_tracker();
  void store_pending_config();
  std::string quoted_name() const { return "the tracker '" + name() + "'"; }

  std::shared_ptr<Tracker> tracker_;
  bool active_;
  bool started_ = false;
  std::optional<Values> pending_config_;  // not stored yet, because the tracker failed
  Attempts calls_;
  Attempts stores_;  // of the configuration
  int64_t num_lost_ = 0;
};

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
