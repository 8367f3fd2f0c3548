#include "transformers/text/record_reader.h"

#include "accelerate/base/error.h"
#include "transformers/text/file_readers.h"

namespace transformers::text {

namespace {

TextFormat format_of(const std::filesystem::path& path) {
  const auto extension = path.extension();
  if (extension == ".tsv") return TextFormat::Tsv;
  if (extension == ".csv") return TextFormat::Csv;
  if (extension == ".jsonl" || extension == ".ndjson" || extension == ".json") return TextFormat::JsonLines;
  accelerate::fail(path.string(), ": the format of '", extension.string(),
                   "' is unknown; rename it to .tsv, .csv or .jsonl, or give the option format");
}

}  // namespace

std::string Column::describe() const {
  if (auto name = this->name()) return "'" + *name + "'";
  return "column " + std::to_string(*index());
}

std::unique_ptr<RecordReader> open_records(const std::filesystem::path& path, const RecordOptions& options) {
  switch (options.format ? *options.format : format_of(path)) {
    case TextFormat::Tsv:
      return std::make_unique<DelimitedReader>(path, options, Delimiters{.separator = '\t', .quotes = false});
    case TextFormat::Csv:
      return std::make_unique<DelimitedReader>(path, options, Delimiters{.separator = ',', .quotes = true});
    case TextFormat::JsonLines:
      return std::make_unique<JsonLinesReader>(path, options);
  }
  accelerate::fail(path.string(), ": the option format has an invalid value");
}

}  // namespace transformers::text
