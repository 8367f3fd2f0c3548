#pragma once

// A tracker that writes metrics as a CSV table, for spreadsheets and pandas.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "accelerate/tracking/append_file.h"
#include "accelerate/tracking/tracker.h"

namespace accelerate::tracking {

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

}  // namespace accelerate::tracking
