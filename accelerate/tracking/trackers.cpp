#include "accelerate/tracking/trackers.h"

#include <algorithm>
#include <ranges>

#include "accelerate/base/error.h"
#include "accelerate/base/log.h"
#include "accelerate/base/text.h"

namespace accelerate::tracking {

namespace {

constexpr std::chrono::milliseconds kLongestPause = std::chrono::minutes(5);

void warn(const std::string& message) {
  get_logger("accelerate.tracking").warning(message, {.main_process_only = false});
}

}  // namespace

GuardedTracker::GuardedTracker(std::shared_ptr<Tracker> tracker, bool active, std::chrono::milliseconds first_pause)
    : tracker_(std::move(tracker)), active_(active), calls_(first_pause), stores_(first_pause) {}

void GuardedTracker::start() { attempt(); }

void GuardedTracker::store_init_configuration(const Values& config) {
  if (!active_) return;
  pending_config_ = config;
  attempt();
}

void GuardedTracker::log(const Values& values, std::optional<int64_t> step) {
  attempt([&] { tracker_->log(values, step); });
}

void GuardedTracker::log_images(const Images& images, std::optional<int64_t> step) {
  attempt([&] { tracker_->log_images(images, step); });
}

void GuardedTracker::log_histograms(const Histograms& histograms, std::optional<int64_t> step) {
  attempt([&] { tracker_->log_histograms(histograms, step); });
}

void GuardedTracker::finish() {
  calls_.try_at_once();  // last chance
  stores_.try_at_once();
  attempt([&] { tracker_->finish(); });
  if (num_lost_ > 0) warn(std::to_string(num_lost_) + " calls of this run did not reach " + quoted_name());
}

void GuardedTracker::attempt(const std::function<void()>& call) {
  if (!active_) return;
  auto work = [&] {
    start_tracker();
    store_pending_config();
    if (call) call();
  };
  const bool reached = calls_.may_try() && calls_.run(work, quoted_name() + " failed");
  if (call && !reached) ++num_lost_;
}

void GuardedTracker::start_tracker() {
  if (started_) return;
  tracker_->start();
  started_ = true;
}

/// Separate from other calls: a tracker that refuses the configuration may accept everything else.
void GuardedTracker::store_pending_config() {
  if (!pending_config_ || !stores_.may_try()) return;
  const bool stored = stores_.run([&] { tracker_->store_init_configuration(*pending_config_); },
                                  quoted_name() + " rejected the configuration");
  if (stored) pending_config_.reset();
}

bool GuardedTracker::Attempts::run(const std::function<void()>& work, const std::string& complaint) {
  try {
    work();
    pause_ = first_pause_;
    return true;
  } catch (const std::exception& error) {
    note_failure(complaint, error.what());
  } catch (...) {
    note_failure(complaint, "it threw something that is not a std::exception");
  }
  return false;
}

void GuardedTracker::Attempts::note_failure(const std::string& complaint, const std::string& reason) {
  retry_at_ = Clock::now() + pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
  if (warned_) return;
  warned_ = true;
  warn(complaint + ": " + reason + "; training continues, and the tracker is retried with exponential back-off");
}

void Trackers::init(const std::vector<LogWith>& log_with, const TrackerSettings& settings, const Values& config,
                    bool is_main_process) {
  auto made = make_trackers(log_with, settings);
  finish();
  for (auto& tracker : made) {
    bool active = is_main_process || !tracker->main_process_only();
    active_ = active_ || active;
    trackers_.push_back(std::make_unique<GuardedTracker>(std::move(tracker), active));
    trackers_.back()->start();
    if (!config.empty()) trackers_.back()->store_init_configuration(config);
  }
}

void Trackers::log(const Values& values, std::optional<int64_t> step) {
  for (const auto& tracker : trackers_) tracker->log(values, step);
}

void Trackers::log_images(const Images& images, std::optional<int64_t> step) {
  for (const auto& tracker : trackers_) tracker->log_images(images, step);
}

void Trackers::log_histograms(const Histograms& histograms, std::optional<int64_t> step) {
  for (const auto& tracker : trackers_) tracker->log_histograms(histograms, step);
}

Tracker& Trackers::get(const std::string& name) {
  for (const auto& tracker : trackers_) {
    if (tracker->name() == name) return *tracker;
  }
  if (trackers_.empty()) fail("there is no tracker '", name, "' yet; call init_trackers first");
  auto names = std::views::transform([](const auto& tracker) { return tracker->name(); });
  fail("there is no tracker '", name, "' in this run; it has ", listed(trackers_ | names));
}

void Trackers::finish() {
  for (const auto& tracker : trackers_) tracker->finish();
  trackers_.clear();
  active_ = false;
}

}  // namespace accelerate::tracking
