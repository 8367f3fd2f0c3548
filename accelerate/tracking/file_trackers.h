#pragma once

// Trackers that write metrics to plain files, as JSON lines or as a CSV table. They have no dependencies, and their
// files survive a killed process.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "accelerate/tracking/append_file.h"
#include "accelerate/tracking/tracker.h"

namespace accelerate::tracking {

/// Writes directory/metrics.jsonl with one line {"step": 3, "time": 1700000000.5, "loss": 0.25} per log(), and
/// directory/config.json. A resumed run appends to the same file.
class JsonlTracker : public Tracker {
 public:
  explicit JsonlTracker(std::filesystem::path directory) : directory_(std::move(directory)) {}

  std::string name() const override { return "jsonl"; }
  void start() override;
  void store_init_configuration(const Values& config) override;
  void log(const Values& values, std::optional<int64_t> step) override;
  void finish() override { file_.reset(); }

 private:
  std::filesystem::path directory_;
  std::optional<AppendFile> file_;
};

/// Writes directory/metrics.csv with the columns step, time and one per name, and directory/config.csv. A new name
/// becomes a new last column, empty in earlier rows. A resumed run appends to the same file.
class CsvTracker : public Tracker {
 public:
  explicit CsvTracker(std::filesystem::path directory) : directory_(std::move(directory)) {}

  std::string name() const override { return "csv"; }
  void start() override;
  void store_init_configuration(const Values& config) override;
  void log(const Values& values, std::optional<int64_t> step) override;
  void finish() override { file_.reset(); }

 private:
  std::filesystem::path path() const { return directory_ / "metrics.csv"; }
  void add_columns(const std::vector<std::string>& names);

  std::filesystem::path directory_;
  std::vector<std::string> columns_;
  std::optional<AppendFile> file_;
};

/// One record with its newline. Fields that contain commas, quotes or newlines are quoted.
std::string csv_record(const std::vector<std::string>& fields);

/// Splits a text into records and fields.
std::vector<std::vector<std::string>> parse_csv(std::string_view text);

}  // namespace accelerate::tracking
