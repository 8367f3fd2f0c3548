#include "accelerate/tracking/wandb_tracker.h"

#include <algorithm>
#include <ctime>
#include <random>
#include <sstream>

#include "accelerate/base/error.h"
#include "accelerate/base/host_name.h"
#include "accelerate/base/log.h"
#include "accelerate/tracking/settings.h"
#include "accelerate/tracking/value.h"

namespace accelerate::tracking {

namespace {

namespace fs = std::filesystem;

/// Eight random letters and digits, like the ids of W&B.
std::string new_run_id() {
  constexpr std::string_view kSigns = "0123456789abcdefghijklmnopqrstuvwxyz";
  std::random_device random;
  std::uniform_int_distribution<size_t> any(0, kSigns.size() - 1);
  std::string id;
  for (int i = 0; i < 8; ++i) id += kSigns[any(random)];
  return id;
}

void check_run_id(const std::string& id) {
  constexpr const char* kRefused = ":;,#?/\\'%";
  if (id.find_first_of(kRefused) != std::string::npos || id.size() > 128) {
    fail("wandb: the id is '", id, "'; it can have up to 128 characters, and none of ", kRefused);
  }
}

bool is_disabled(const std::string& mode) {
  if (mode != "offline" && mode != "disabled") {
    fail("wandb: the mode is '", mode,
         "'; runs are written offline here, or not at all with disabled. Set WANDB_MODE=offline, and upload the run "
         "with `wandb sync`");
  }
  return mode == "disabled";
}

std::vector<std::string> between_commas(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ',');) {
    if (!part.empty()) parts.push_back(part);
  }
  return parts;
}

/// Local time, in the format of W&B's directory names.
std::string directory_time(double seconds) {
  const auto whole = static_cast<std::time_t>(seconds);
  std::tm parts{};
  localtime_r(&whole, &parts);
  char text[32];
  std::strftime(text, sizeof(text), "%Y%m%d_%H%M%S", &parts);
  return text;
}

/// Points the link latest-run to the run, where W&B's programs look for it. On file systems without links they need its
/// name.
void make_latest(const fs::path& directory) {
  const auto fresh = directory / "latest-run", link = directory.parent_path() / "latest-run";
  std::error_code error;
  fs::create_directory_symlink(directory.filename(), fresh, error);
  if (!error) fs::rename(fresh, link, error);  // atomic: readers find the previous run or this one
  if (error) fs::remove(fresh, error);
}

void add_items(WandbItems& items, const std::vector<std::string>& names, const Values& values) {
  for (const auto& [name, value] : values) {
    auto path = names;
    path.push_back(name);
    if (auto* parts = std::get_if<Values>(&value.content())) {
      add_items(items, path, *parts);
    } else {
      items.emplace_back(std::move(path), to_json(value));
    }
  }
}

void replace_or_add(WandbItems& items, const WandbItems::value_type& item) {
  const auto known = std::ranges::find(items, item.first, &WandbItems::value_type::first);
  if (known == items.end()) {
    items.push_back(item);
  } else {
    known->second = item.second;
  }
}

}  // namespace

WandbTracker::WandbTracker(const std::string& project_name, const WandbOptions& options)
    : run_{.id = setting(options.id, "WANDB_RUN_ID"),
           .entity = setting(options.entity, "WANDB_ENTITY"),
           .project = setting(project_name, "WANDB_PROJECT"),
           .group = setting(options.group, "WANDB_RUN_GROUP"),
           .job_type = setting(options.job_type, "WANDB_JOB_TYPE"),
           .name = setting(options.name, "WANDB_NAME"),
           .notes = setting(options.notes, "WANDB_NOTES"),
           .tags = options.tags.empty() ? between_commas(setting("", "WANDB_TAGS")) : options.tags,
           .host = host_name()},
      home_(fs::path(setting(options.dir.string(), "WANDB_DIR", ".")) / "wandb"),
      disabled_(is_disabled(setting(options.mode, "WANDB_MODE", "offline"))) {
  run_.resume = !run_.id.empty();
  if (run_.id.empty()) run_.id = new_run_id();
  check_run_id(run_.id);
}

void WandbTracker::start() {
  if (disabled_) return;
  run_.start_time = wall_time();
  directory_ = home_ / ("offline-run-" + directory_time(run_.start_time) + "-" + run_.id);
  file_.emplace(directory_ / ("run-" + run_.id + ".wandb"));
  append({wandb_version_record(run_.id), wandb_run_record(run_)});
  make_latest(directory_);
}

void WandbTracker::append(const std::vector<ProtobufMessage>& records) {
  if (!file_) return;
  file_->append(wandb_file_bytes(file_->bytes(), num_records_, records));
  num_records_ += static_cast<int64_t>(records.size());
}

double WandbTracker::runtime_seconds() const { return wall_time() - run_.start_time; }

void WandbTracker::store_init_configuration(const Values& config) {
  WandbItems items;
  for (const auto& [name, value] : config) items.push_back({{name}, to_json(value)});
  append({wandb_config_record(items)});
}

void WandbTracker::log(const Values& values, std::optional<int64_t> step) {
  const auto row_step = step.value_or(last_step_ + 1);
  if (row_step < last_step_) {
    get_logger("accelerate.tracking")
        .warning_once("steps of W&B never go back; values for a step before the last one are dropped there",
                      {.main_process_only = false});
    return;
  }
  if (row_step > last_step_) write_row();
  last_step_ = row_step;
  WandbItems items;
  add_items(items, {}, values);
  add_items(items, {}, {{"_step", row_step}, {"_runtime", runtime_seconds()}, {"_timestamp", wall_time()}});
  for (const auto& item : items) replace_or_add(row_, item);
  append({wandb_summary_record(items)});
}

void WandbTracker::write_row() {
  if (row_.empty()) return;
  append({wandb_history_record(row_, last_step_)});
  row_.clear();
}

void WandbTracker::finish() {
  write_row();
  append({wandb_exit_record(static_cast<int64_t>(runtime_seconds()))});
  file_.reset();
  if (!disabled_) get_logger("accelerate.tracking").info("`wandb sync " + directory_.string() + "` uploads this run");
}

}  // namespace accelerate::tracking
