#pragma once

// Rows of a file whose fields are separated by a character.

#include "transformers/text/line_reader.h"
#include "transformers/text/record_reader.h"

namespace transformers::text {

struct Delimiters {
  char separator = ',';
  bool quotes = true;  // a field may stand in quotes, with separators, line ends and doubled quotes inside
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

}  // namespace transformers::text
