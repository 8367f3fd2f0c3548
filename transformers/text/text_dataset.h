#pragma once

// Data sets of labelled texts from TSV, CSV or JSON lines, in memory or streamed.

#include <cstdint>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "transformers/text/record_reader.h"

namespace transformers::text {

/// A text or a pair of texts with its label: a class, a number for regression, or several labels.
struct LabelledText {
  std::string text = {};
  std::optional<std::string> text_pair = std::nullopt;
  int64_t label = 0;
  std::optional<double> number = std::nullopt;  // instead of a class, for regression
  std::vector<float> labels = {};               // instead of a class: 1 for each label that applies, 0 for the others

  friend bool operator==(const LabelledText&, const LabelledText&) = default;
};

/// Which columns to read, and which labels are valid.
struct TextDatasetOptions {
  Column text = "text";
  std::optional<Column> text_pair = std::nullopt;  // the second text of pairs
  Column label = "label";
  std::vector<std::string> label_names = {};        // labels in the file are these names; the first is 0
  bool regression = false;                          // labels are real numbers, not classes
  bool multi_label = false;                         // labels are lists in JSON, of 0 and 1 or of label_names
  int64_t num_labels = 0;                           // labels must be below it; 0: no limit
  int64_t max_rows = 0;                             // read only the first rows; 0: all
  bool header = true;                               // the first row of a TSV or CSV file names the columns
  std::optional<TextFormat> format = std::nullopt;  // nullopt: by the extension
};

/// Reads the rows of a file once. Errors name the file and the line.
class TextReader {
 public:
  explicit TextReader(const std::filesystem::path& path, TextDatasetOptions options = {});

  /// The next row; nullopt at the end. Throws Error for an invalid row or label, and for a file without rows.
  std::optional<LabelledText> next();

 private:
  int64_t parse_class(const Record& record) const;
  double parse_number(const Record& record) const;
  std::vector<float> parse_labels(const Record& record);
  void check_num_labels(const Record& record, size_t num_labels);
  [[noreturn]] void refuse_label(const Record& record, const std::string& remedy) const;

  std::filesystem::path path_;
  TextDatasetOptions options_;
  std::unique_ptr<RecordReader> records_;
  Record record_;
  int64_t num_rows_ = 0;
  size_t num_labels_ = 0;  // of every row, with multi_label
};

/// All rows of a file in memory. Throws Error for everything that TextReader does.
class TextDataset {
 public:
  explicit TextDataset(const std::filesystem::path& path, const TextDatasetOptions& options = {});
  explicit TextDataset(std::vector<LabelledText> rows) : rows_(std::move(rows)) {}

  size_t size() const { return rows_.size(); }
  const LabelledText& operator[](size_t index) const { return rows_.at(index); }
  auto begin() const { return rows_.begin(); }
  auto end() const { return rows_.end(); }

 private:
  std::vector<LabelledText> rows_;
};

/// The same rows without holding them in memory: each iteration reads the file again. An iterable data set for a
/// DataLoader.
class StreamedTextDataset {
 public:
  /// One iteration over the rows.
  class Iterator {
   public:
    using value_type = LabelledText;
    using difference_type = std::ptrdiff_t;

    explicit Iterator(std::unique_ptr<TextReader> reader) : reader_(std::move(reader)) { ++*this; }

    const LabelledText& operator*() const { return *row_; }
    Iterator& operator++() {
      row_ = reader_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    bool operator==(std::default_sentinel_t) const { return !row_; }

   private:
    std::unique_ptr<TextReader> reader_;
    std::optional<LabelledText> row_;
  };

  /// Throws Error if the file or a column does not exist.
  explicit StreamedTextDataset(std::filesystem::path path, TextDatasetOptions options = {});

  Iterator begin() const { return Iterator(std::make_unique<TextReader>(path_, options_)); }
  std::default_sentinel_t end() const { return {}; }

 private:
  std::filesystem::path path_;
  TextDatasetOptions options_;
};

}  // namespace transformers::text

namespace transformers {
using text::LabelledText;
using text::StreamedTextDataset;
using text::TextDataset;
using text::TextDatasetOptions;
using text::TextFormat;
}  // namespace transformers
