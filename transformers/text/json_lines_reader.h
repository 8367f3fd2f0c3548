#pragma once

// Rows of a file with a JSON object on each line.

#include "transformers/text/line_reader.h"
#include "transformers/text/record_reader.h"

namespace transformers::text {

/// Reads JSON lines; columns are keys of the objects. Texts, numbers and booleans (as 0 and 1) are values,
/// and lists where the options say so.
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
