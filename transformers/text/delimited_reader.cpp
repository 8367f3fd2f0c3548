#include "transformers/text/delimited_reader.h"

#include <algorithm>

namespace transformers::text {

DelimitedReader::DelimitedReader(const std::filesystem::path& path, const RecordOptions& options, Delimiters delimiters)
    : lines_(path), delimiters_(delimiters), columns_(options.columns) {
  if (!read_row()) accelerate::fail(path.string(), ": the file is empty");
  num_fields_ = fields_.size();
  for (const auto& column : columns_) wanted_.push_back(find_column(column, options.header));
  row_pending_ = !options.header;
}

bool DelimitedReader::next(Record& record) {
  if (!row_pending_ && !read_row()) return false;
  row_pending_ = false;
  if (fields_.size() != num_fields_) {
    lines_.fail_at(row_line_, "the row has ", fields_.size(), " fields; the first row has ", num_fields_);
  }
  record.line_number = row_line_;
  record.values.clear();
  for (size_t index : wanted_) record.values.push_back(fields_[index]);
  return true;
}

bool DelimitedReader::read_row() {
  do {
    if (!lines_.next(line_)) return false;
  } while (line_.empty() || line_ == "\r");
  row_line_ = lines_.line_number();
  fields_.clear();
  for (size_t position = 0; position <= line_.size(); ++position) {  // position is where a field begins
    fields_.emplace_back();
    if (delimiters_.quotes && position < line_.size() && line_[position] == '"') {
      read_quoted_field(position);
    } else {
      const size_t end = std::min(line_.find(delimiters_.separator, position), line_.size());
      fields_.back() = line_.substr(position, end - position);
      position = end;
      if (end == line_.size() && fields_.back().ends_with('\r')) fields_.back().pop_back();
    }
  }
  return true;
}

/// Reads the field whose opening quote is at `position`, and leaves `position` at what follows the closing one. Takes
/// further lines as the field goes on.
void DelimitedReader::read_quoted_field(size_t& position) {
  auto& field = fields_.back();
  ++position;
  while (true) {
    const size_t quote = line_.find('"', position);
    if (quote == std::string::npos) {
      field.append(line_, position).push_back('\n');
      if (!lines_.next(line_)) lines_.fail_at(row_line_, "a quoted field of this row has no closing quote");
      position = 0;
      continue;
    }
    field.append(line_, position, quote - position);
    position = quote + 1;
    if (position < line_.size() && line_[position] == '"') {
      field.push_back('"');
      ++position;
      continue;
    }
    break;
  }
  if (line_.substr(position) == "\r") ++position;
  if (position < line_.size() && line_[position] != delimiters_.separator) {
    lines_.fail_at(lines_.line_number(), "'", line_.substr(position, 1), "' follows the closing quote of a field; ",
                   "double the quotes inside a field");
  }
}

size_t DelimitedReader::find_column(const Column& column, bool header) const {
  if (auto index = column.index()) {
    if (*index >= 0 && static_cast<size_t>(*index) < num_fields_) return *index;
    lines_.fail_at(row_line_, "there is no column ", *index, "; the row has ", num_fields_, " fields, counted from 0");
  }
  if (!header) {
    accelerate::fail(lines_.path().string(), ": column ", column.describe(),
                     " is requested by name, but the option header says that the file has no names; give its number");
  }
  auto found = std::find(fields_.begin(), fields_.end(), *column.name());
  if (found != fields_.end()) return found - fields_.begin();
  std::string known;
  for (const auto& field : fields_) known += (known.empty() ? "'" : ", '") + field + "'";
  lines_.fail_at(row_line_, "there is no column ", column.describe(), "; there are: ", known);
}

}  // namespace transformers::text
