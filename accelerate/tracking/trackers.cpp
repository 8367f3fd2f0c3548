#include "accelerate/tracking/trackers.h"

#include <ranges>

#include "accelerate/base/error.h"
#include "accelerate/base/listed.h"

namespace accelerate::tracking {

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
