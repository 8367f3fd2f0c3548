#include "transformers/text/text_dataset.h"

#include <algorithm>
#include <charconv>

#include "accelerate/base/error.h"

namespace transformers::text {

namespace {

std::vector<Column> wanted_columns(const TextDatasetOptions& options) {
  std::vector<Column> columns{options.label, options.text};
  if (options.text_pair) columns.push_back(*options.text_pair);
  return columns;
}

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const auto& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

}  // namespace

TextReader::TextReader(const std::filesystem::path& path, TextDatasetOptions options)
    : path_(path),
      options_(std::move(options)),
      records_(open_records(
          path, {.columns = wanted_columns(options_), .header = options_.header, .format = options_.format})) {}

std::optional<LabelledText> TextReader::next() {
  if (options_.max_rows > 0 && num_rows_ == options_.max_rows) return std::nullopt;
  if (!records_->next(record_)) {
    if (num_rows_ == 0) accelerate::fail(path_.string(), ": there are no rows in the file");
    return std::nullopt;
  }
  ++num_rows_;
  LabelledText row{.text = std::move(record_.values[1]), .label = parse_label(record_)};
  if (options_.text_pair) row.text_pair = std::move(record_.values[2]);
  return row;
}

int64_t TextReader::parse_label(const Record& record) const {
  const auto& label = record.values[0];
  auto fail = [&](const auto&... parts) {
    accelerate::fail(path_.string(), ":", record.line_number, ": the label is '", label, "'; ", parts...);
  };
  if (!options_.label_names.empty()) {
    const auto& names = options_.label_names;
    auto name = std::find(names.begin(), names.end(), label);
    if (name == names.end()) fail("it can be ", joined(names));
    return name - names.begin();
  }
  int64_t value = 0;
  auto [end, error] = std::from_chars(label.data(), label.data() + label.size(), value);
  if (error != std::errc() || end != label.data() + label.size()) {
    fail("it should be a whole number (words become numbers by the option label_names)");
  }
  if (value < 0) fail("labels count from 0");
  if (options_.num_labels > 0 && value >= options_.num_labels) {
    fail("there are ", options_.num_labels, " labels, 0 to ", options_.num_labels - 1);
  }
  return value;
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
