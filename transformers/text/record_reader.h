#pragma once

// The rows of a text file, whatever its format: the values of the columns that were asked for.

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

/// A column by its name, or by its place, the first being 0.
class Column {
 public:
  Column(const char* name) : column_(std::string(name)) {}
  Column(std::string name) : column_(std::move(name)) {}
  Column(int index) : column_(index) {}

  const std::string* name() const { return std::get_if<std::string>(&column_); }
  const int* index() const { return std::get_if<int>(&column_); }

  /// The name, or the place as in "column 2".
  std::string describe() const;

 private:
  std::variant<std::string, int> column_;
};

/// One row: the values of the wanted columns in their order, and the line it begins at.
struct Record {
  std::vector<std::string> values;
  int64_t line_number = 0;
};

/// Reads rows one after the other. Errors name the file and the line.
class RecordReader {
 public:
  virtual ~RecordReader() = default;

  /// Reads the next row; false at the end of the file. Empty lines are no rows.
  virtual bool next(Record& record) = 0;
};

/// What to read of a file. `header`: the first row of a TSV or CSV file names the columns.
struct RecordOptions {
  std::vector<Column> columns;
  bool header = true;
  std::optional<TextFormat> format = std::nullopt;
  bool first_is_list = false;  // the first column holds lists in JSON, and its values are their text
};

/// A reader for `path`. A format that is not given is that of the extension: .tsv, .csv, .jsonl or .ndjson (or .json
/// with an object on each line). TSV has no quotes; CSV has those of RFC 4180, line ends in fields included. Throws
/// Error when the file or a column is not there.
std::unique_ptr<RecordReader> open_records(const std::filesystem::path& path, const RecordOptions& options);

}  // namespace transformers::text
