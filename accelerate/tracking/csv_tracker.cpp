#include "accelerate/tracking/csv_tracker.h"

#include <algorithm>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/read_file.h"
#include "accelerate/tracking/csv_text.h"
#include "accelerate/tracking/record.h"

namespace accelerate::tracking {

void CsvTracker::start() {
  auto records = parse_csv(drop_torn_line(path()));
  columns_ = records.empty() ? std::vector<std::string>() : records.front();
  file_.emplace(path());
  if (columns_.empty()) {
    columns_ = {"step", "time"};
    file_->append(csv_record(columns_));
  }
}

void CsvTracker::store_init_configuration(const Values& config) {
  auto text = csv_record({"name", "value"});
  for (const auto& [name, value] : flatten(config)) text += csv_record({name, to_text(value)});
  write_file_atomically(directory_ / "config.csv", text);
}

void CsvTracker::log(const Values& values, std::optional<int64_t> step) {
  const auto flat = flatten(record_of(values, step));
  auto index_of = [&](const std::string& name) {
    return std::find(columns_.begin(), columns_.end(), name) - columns_.begin();
  };
  std::vector<std::string> new_names;
  for (const auto& [name, value] : flat) {
    if (index_of(name) == std::ssize(columns_)) new_names.push_back(name);
  }
  if (!new_names.empty()) add_columns(new_names);

  std::vector<std::string> fields(columns_.size());
  for (const auto& [name, value] : flat) fields[index_of(name)] = to_text(value);
  file_->append(csv_record(fields));
}

void CsvTracker::add_columns(const std::vector<std::string>& names) {
  auto columns = columns_;
  for (const auto& name : names) {
    if (std::find(columns.begin(), columns.end(), name) == columns.end()) columns.push_back(name);
  }
  auto records = parse_csv(read_file_if_there(path()).value_or(""));
  if (records.empty()) records.emplace_back();  // the file was removed during the run
  records.front() = columns;
  std::string text;
  for (auto& record : records) {
    record.resize(columns.size());
    text += csv_record(record);
  }
  write_file_atomically(path(), text);
  file_.emplace(path());
  columns_ = std::move(columns);
}

}  // namespace accelerate::tracking
