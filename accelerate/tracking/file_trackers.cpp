#include "accelerate/tracking/file_trackers.h"

#include <algorithm>
#include <utility>

#include "accelerate/base/atomic_file.h"
#include "accelerate/base/read_file.h"
#include "accelerate/tracking/value.h"

namespace accelerate::tracking {

namespace {

std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  std::string quoted = "\"";
  for (char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

}  // namespace

void JsonlTracker::start() {
  auto path = directory_ / "metrics.jsonl";
  drop_torn_line(path);
  file_.emplace(path);
}

void JsonlTracker::store_init_configuration(const Values& config) {
  write_file_atomically(directory_ / "config.json", to_json(config) + "\n");
}

void JsonlTracker::log(const Values& values, std::optional<int64_t> step) {
  file_->append(to_json(record_of(values, step)) + "\n");
}

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

std::string csv_record(const std::vector<std::string>& fields) {
  std::string record;
  for (const auto& field : fields) {
    if (&field != &fields.front()) record += ',';
    record += csv_field(field);
  }
  return record + "\n";
}

std::vector<std::vector<std::string>> parse_csv(std::string_view text) {
  std::vector<std::vector<std::string>> records;
  std::vector<std::string> record;
  std::string field;
  bool quoted = false;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (quoted && c == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      field += text[++i];
    } else if (c == '"') {
      quoted = !quoted;
    } else if (!quoted && c == ',') {
      record.push_back(std::exchange(field, {}));
    } else if (!quoted && c == '\n') {
      record.push_back(std::exchange(field, {}));
      records.push_back(std::exchange(record, {}));
    } else {
      field += c;
    }
  }
  return records;
}

}  // namespace accelerate::tracking
