#include "accelerate/tracking/tensorboard_tracker.h"

#include <unistd.h>

#include <algorithm>
#include <atomic>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/host_name.h"
#include "accelerate/base/log.h"
#include "accelerate/formats/png.h"
#include "accelerate/tracking/formats/event_file.h"
#include "accelerate/tracking/settings.h"
#include "accelerate/tracking/value.h"

namespace accelerate::tracking {

namespace {

/// A number that is unique among the event files of this process.
int64_t next_file_number() {
  static std::atomic<int64_t> number = 0;
  return number++;
}

HParam hparam_of(const Value& value) {
  if (auto* flag = std::get_if<bool>(&value.content())) return *flag;
  if (auto number = number_of(value)) return *number;
  return to_text(value);
}

}  // namespace

AppendFile& TensorBoardTracker::run(const std::filesystem::path& directory) {
  auto& file = runs_[directory];
  if (!file) {
    double now = wall_time();
    auto name = event_file_name(static_cast<int64_t>(now), host_name(), getpid(), next_file_number());
    auto fresh = std::make_unique<AppendFile>(directory / name);
    fresh->append(event_file_header(now));
    file = std::move(fresh);
  }
  return *file;
}

void TensorBoardTracker::write(const std::filesystem::path& directory, const EventSummary& summary,
                               std::optional<int64_t> step) {
  run(directory).append(summary.record(wall_time(), step.value_or(0)));
}

void TensorBoardTracker::store_init_configuration(const Values& config) {
  std::vector<std::pair<std::string, HParam>> settings;
  std::string yaml;
  for (const auto& [name, value] : flatten(config)) settings.emplace_back(name, hparam_of(value));
  for (const auto& [name, value] : config) yaml += to_json(name) + ": " + to_json(value) + "\n";

  auto directory = directory_ / std::to_string(wall_time());
  for (const auto& summary : EventSummary::hparams(settings)) write(directory, summary, std::nullopt);
  write_file_atomically(directory / "hparams.yml", yaml);
  runs_.erase(directory);
}

void TensorBoardTracker::log(const Values& values, std::optional<int64_t> step) {
  EventSummary summary;
  bool anything = false;
  for (const auto& [name, value] : values) {
    if (auto* parts = std::get_if<Values>(&value.content())) {
      auto prefix = name;
      std::replace(prefix.begin(), prefix.end(), '/', '_');
      for (const auto& [part, content] : *parts) {
        auto number = number_of(content);
        if (!number) continue;
        const auto curve = prefix + "_" + part;  // has its own directory
        if (escapes_directory(curve)) {
          get_logger("accelerate.tracking")
              .warning_once("tensorboard: '" + curve + "' is outside of the run's directory and is omitted",
                            {.main_process_only = false});
          continue;
        }
        write(directory_ / curve, EventSummary().scalar(name, *number), step);
      }
      continue;
    }
    if (auto number = number_of(value)) {
      summary.scalar(name, *number);
    } else {
      summary.text(name, to_text(value));
    }
    anything = true;
  }
  if (anything) write(directory_, summary, step);
}

void TensorBoardTracker::log_images(const Images& images, std::optional<int64_t> step) {
  for (const auto& [name, image] : images) {
    auto png = formats::encode_png(image.height, image.width, image.channels, image.pixels);
    write(directory_, EventSummary().image(name, image.height, image.width, image.channels, png), step);
  }
}

void TensorBoardTracker::log_histograms(const Histograms& histograms, std::optional<int64_t> step) {
  for (const auto& [name, numbers] : histograms) {
    write(directory_, EventSummary().histogram(name, numbers), step);
  }
}

}  // namespace accelerate::tracking
