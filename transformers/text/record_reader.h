#pragma once

// The interface of readers for rows of text files, independent of the format.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

namespace transformers::text {

enum class TextFormat { Tsv, Csv, JsonLines };

/// A column by its name, or by its index from 0.
class Column {
 public:
  Column(const char* name) : column_(std::string(name)) {}
  Column(std::string name) : column_(std::move(name)) {}
  Column(int index) : column_(index) {}

  const std::string* name() const { return std::get_if<std::string>(&column_); }
  const int* index() const { return std::get_if<int>(&column_); }

  /// The name, or the index as "column 2".
  std::string describe() const;

 private:
  std::variant<std::string, int> column_;
};

/// One row: the values of the requested columns in their order, and the line at which it begins.
struct Record {
  std::vector<std::string> values;
  int64_t line_number = 0;
};

/// Reads rows one after the other. Errors name the file and the line.
class RecordReader {
 public:
  virtual ~RecordReader() = default;

  /// Reads the next row; false at the end of the file. Skips empty lines.
  virtual bool next(Record& record) = 0;
};

/// What to read of a file. `header`: the first row of a TSV or CSV file names the columns.
struct RecordOptions {
  std::vector<Column> columns;
  bool header = true;
  std::optional<TextFormat> format = std::nullopt;
  bool first_is_list = false;  // the first column holds JSON lists; its values are their JSON text
};

/// A reader for `path`. The default format is that of the extension: .tsv, .csv, .jsonl or .ndjson (or .json with an
/// object on each line). TSV has no quotes. CSV has quotes as in RFC 4180, with line ends in fields. Throws Error if
/// the file or a column does not exist.
std::unique_ptr<RecordReader> open_records(const std::filesystem::path& path, const RecordOptions& options);

}  // namespace transformers::text
