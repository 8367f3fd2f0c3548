#pragma once

// Readers of lines, of delimited values (TSV, CSV) and of JSON lines. Errors name the file and the line.

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

#include "accelerate/base/error.h"
#include "transformers/text/record_reader.h"

namespace transformers::text {

/// Reads a UTF-8 file line by line. A byte order mark at its start is skipped.
class LineReader {
 public:
  /// Throws Error when the file cannot be read.
  explicit LineReader(std::filesystem::path path);

  /// Reads the next line without its '\n'; false at the end. Throws Error for broken UTF-8.
  bool next(std::string& line);

  /// The number of the line that was read last; the first is 1.
  int64_t line_number() const { return line_number_; }

  const std::filesystem::path& path() const { return path_; }

  /// Throws Error that begins with the file and the number of a line.
  template <class... Parts>
  [[noreturn]] void fail_at(int64_t line_number, const Parts&... parts) const {
    accelerate::fail(path_.string(), ":", line_number, ": ", parts...);
  }

 private:
  std::filesystem::path path_;
  std::ifstream file_;
  int64_t line_number_ = 0;
};

struct Delimiters {
  char separator = ',';
  bool quotes = true;  // fields may be quoted, and then contain separators, line ends and doubled quotes
};

/// Reads TSV and CSV. Every row has as many fields as the first.
class DelimitedReader final : public RecordReader {
 public:
  DelimitedReader(const std::filesystem::path& path, const RecordOptions& options, Delimiters delimiters);

  bool next(Record& record) override;

 private:
  bool read_row();
  void read_quoted_field(size_t& position);
  size_t find_column(const Column& column, bool header) const;

  LineReader lines_;
  Delimiters delimiters_;
  std::vector<size_t> wanted_;
  std::vector<Column> columns_;
  std::vector<std::string> fields_;  // of the row that was read last
  size_t num_fields_ = 0;            // of every row
  int64_t row_line_ = 0;             // where it begins
  std::string line_;
  bool row_pending_ = false;  // the first row is data and was read to count the fields
};

/// Reads JSON lines; columns are keys of the objects. Values are strings, numbers and booleans (as 0 and 1). The first
/// column can hold lists if the options say so.
class JsonLinesReader final : public RecordReader {
 public:
  JsonLinesReader(const std::filesystem::path& path, const RecordOptions& options);

  bool next(Record& record) override;

 private:
  LineReader lines_;
  std::vector<std::string> keys_;
  bool first_is_list_;
  std::string line_;
};

}  // namespace transformers::text
