#include "accelerate/tracking/guarded_tracker.h"

#include <algorithm>

#include "accelerate/base/log.h"

namespace accelerate::tracking {

namespace {

constexpr std::chrono::milliseconds kLongestPause = std::chrono::minutes(5);

void warn(const std::string& message) {
  get_logger("accelerate.tracking").warning(message, {.main_process_only = false});
}

}  // namespace

GuardedTracker::GuardedTracker(std::shared_ptr<Tracker> tracker, bool active, std::chrono::milliseconds first_pause)
    : tracker_(std::move(tracker)), active_(active), first_pause_(first_pause), pause_(first_pause) {}

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
  retry_at_ = Clock::time_point::min();  // the last chance
  attempt([&] { tracker_->finish(); });
  if (num_lost_ > 0) warn(std::to_string(num_lost_) + " calls of this run did not reach the tracker '" + name() + "'");
}

void GuardedTracker::attempt(const std::function<void()>& call) {
  if (!active_) return;
  if (Clock::now() < retry_at_) {
    if (call) ++num_lost_;
    return;
  }
  try {
    catch_up();
    if (call) call();
    pause_ = first_pause_;
    return;
  } catch (const std::exception& error) {
    note_failure(error.what());
  } catch (...) {
    note_failure("it threw something that is no std::exception");
  }
  if (call) ++num_lost_;
}

void GuardedTracker::catch_up() {
  if (!started_) {
    tracker_->start();
    started_ = true;
  }
  if (pending_config_) {
    tracker_->store_init_configuration(*pending_config_);
    pending_config_.reset();
  }
}

void GuardedTracker::note_failure(const std::string& reason) {
  retry_at_ = Clock::now() + pause_;
  pause_ = std::min(2 * pause_, kLongestPause);
  if (warned_) return;
  warned_ = true;
  warn("the tracker '" + name() + "' failed: " + reason +
       "; the training goes on, and the tracker is tried again ever more rarely");
}

}  // namespace accelerate::tracking
