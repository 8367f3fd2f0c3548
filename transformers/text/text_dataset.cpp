#include "transformers/text/text_dataset.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "accelerate/base/error.h"
#include "accelerate/base/text.h"

namespace transformers::text {

namespace {

std::vector<Column> wanted_columns(const TextDatasetOptions& options) {
  std::vector<Column> columns{options.label, options.text};
  if (options.text_pair) columns.push_back(*options.text_pair);
  return columns;
}

/// Parses all of `text` as a number; nullopt if that fails.
template <class T>
std::optional<T> parse(const std::string& text) {
  T value = 0;
  auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

}  // namespace

TextReader::TextReader(const std::filesystem::path& path, TextDatasetOptions options)
    : path_(path),
      options_(std::move(options)),
      records_(open_records(path, {.columns = wanted_columns(options_),
                                   .header = options_.header,
                                   .format = options_.format,
                                   .first_is_list = options_.multi_label})) {
  if (options_.regression && options_.multi_label) {
    accelerate::fail(path_.string(), ": the options regression and multi_label exclude each other");
  }
}

std::optional<LabelledText> TextReader::next() {
  if (options_.max_rows > 0 && num_rows_ == options_.max_rows) return std::nullopt;
  if (!records_->next(record_)) {
    if (num_rows_ == 0) accelerate::fail(path_.string(), ": there are no rows in the file");
    return std::nullopt;
  }
  ++num_rows_;
  LabelledText row{.text = std::move(record_.values[1])};
  if (options_.regression) {
    row.number = parse_number(record_);
  } else if (options_.multi_label) {
    row.labels = parse_labels(record_);
  } else {
    row.label = parse_class(record_);
  }
  if (options_.text_pair) row.text_pair = std::move(record_.values[2]);
  return row;
}

void TextReader::refuse_label(const Record& record, const std::string& remedy) const {
  accelerate::fail(path_.string(), ":", record.line_number, ": the label is '", record.values[0], "'; ", remedy);
}

int64_t TextReader::parse_class(const Record& record) const {
  const auto& label = record.values[0];
  if (!options_.label_names.empty()) {
    const auto& names = options_.label_names;
    auto name = std::find(names.begin(), names.end(), label);
    if (name == names.end()) refuse_label(record, "it can be " + accelerate::listed(names));
    return name - names.begin();
  }
  auto value = parse<int64_t>(label);
  if (!value) {
    refuse_label(record,
                 "it must be a whole number (the option label_names maps words to numbers; other numbers are for"
                 " the option regression)");
  }
  if (*value < 0) refuse_label(record, "labels are numbered from 0");
  if (options_.num_labels > 0 && *value >= options_.num_labels) {
    refuse_label(record, "there are " + std::to_string(options_.num_labels) + " labels, 0 to " +
                             std::to_string(options_.num_labels - 1));
  }
  return *value;
}

double TextReader::parse_number(const Record& record) const {
  auto value = parse<double>(record.values[0]);
  if (!value || !std::isfinite(*value)) refuse_label(record, "it must be a number, such as 3.5");
  return *value;
}

std::vector<float> TextReader::parse_labels(const Record& record) {
  const auto list = nlohmann::json::parse(record.values[0], nullptr, /*allow_exceptions=*/false);
  if (!list.is_array()) refuse_label(record, "it must be a list, such as [0, 1, 1]");
  const auto& names = options_.label_names;
  std::vector<float> labels(names.size());
  for (const auto& item : list) {
    if (names.empty()) {
      const bool is_flag = item.is_boolean() || item == 0 || item == 1;
      if (!is_flag) refuse_label(record, "a list of labels contains 0 and 1 (or names of the option label_names)");
      labels.push_back(item.get<float>());
      continue;
    }
    const auto name = std::find(names.begin(), names.end(), item);
    if (name == names.end()) refuse_label(record, "each can be " + accelerate::listed(names));
    labels[name - names.begin()] = 1;
  }
  check_num_labels(record, labels.size());
  return labels;
}

void TextReader::check_num_labels(const Record& record, size_t num_labels) {
  if (num_rows_ == 1) num_labels_ = options_.num_labels > 0 ? options_.num_labels : num_labels;
  if (num_labels == 0) refuse_label(record, "it must have a 0 or a 1 for each label");
  if (num_labels == num_labels_) return;
  const std::string which = options_.num_labels > 0 ? "num_labels" : "the first row";
  refuse_label(record, "it must have the same number of labels as " + which + ", " + std::to_string(num_labels_));
}

TextDataset::TextDataset(const std::filesystem::path& path, const TextDatasetOptions& options) {
  TextReader reader(path, options);
  while (auto row = reader.next()) rows_.push_back(std::move(*row));
}

StreamedTextDataset::StreamedTextDataset(std::filesystem::path path, TextDatasetOptions options)
    : path_(std::move(path)), options_(std::move(options)) {
  TextReader(path_, options_);  // opens the file, so that a mistake is found here and not in the first epoch
}

}  // namespace transformers::text
