#include "transformers/text/file_readers.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>

#include "accelerate/base/utf8.h"

namespace transformers::text {

namespace {

using nlohmann::json;

std::string value_of(const json& object, const std::string& key, bool is_list, const LineReader& lines) {
  auto item = object.find(key);
  if (item == object.end()) {
    std::string known;
    for (const auto& [name, value] : object.items()) known += (known.empty() ? "'" : ", '") + name + "'";
    lines.fail_at(lines.line_number(), "the object has no '", key, "'; it has: ", known.empty() ? "nothing" : known);
  }
  if (is_list && item->is_array()) {
    // dump() is recursive: deeply nested values would overflow the stack.
    if (std::any_of(item->begin(), item->end(), [](const json& label) { return label.is_structured(); })) {
      lines.fail_at(lines.line_number(), "'", key,
                    "' is a list with lists or objects in it; it can have strings and numbers");
    }
    return item->dump();
  }
  if (item->is_string()) return item->get<std::string>();
  if (item->is_number()) return item->dump();
  if (item->is_boolean()) return item->get<bool>() ? "1" : "0";
  lines.fail_at(lines.line_number(), "'", key, "' is ", item->type_name(), "; it can be a string or a number");
}

}  // namespace

LineReader::LineReader(std::filesystem::path path) : path_(std::move(path)) {
  if (std::filesystem::is_directory(path_)) accelerate::fail(path_.string(), ": is a directory; give a file");
  file_.open(path_, std::ios::binary);
  if (!file_) accelerate::fail(path_.string(), ": cannot be read: ", std::strerror(errno));
}

bool LineReader::next(std::string& line) {
  if (!std::getline(file_, line)) {
    if (file_.bad()) fail_at(line_number_ + 1, "cannot be read: ", std::strerror(errno));
    return false;
  }
  ++line_number_;
  if (line_number_ == 1 && line.starts_with("\xEF\xBB\xBF")) line.erase(0, 3);
  if (auto position = accelerate::find_broken_utf8(line)) {
    fail_at(line_number_, "byte ", *position + 1,
            " of the line is not UTF-8; convert the file, for example with iconv");
  }
  return true;
}

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

/// Reads the field whose opening quote is at `position`, and leaves `position` at what follows the closing one. Reads
/// further lines if the field contains line ends.
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

JsonLinesReader::JsonLinesReader(const std::filesystem::path& path, const RecordOptions& options)
    : lines_(path), first_is_list_(options.first_is_list) {
  for (const auto& column : options.columns) {
    if (!column.name()) {
      accelerate::fail(path.string(), ": ", column.describe(), " is requested by number; JSON has only names");
    }
    keys_.push_back(*column.name());
  }
}

bool JsonLinesReader::next(Record& record) {
  do {
    if (!lines_.next(line_)) return false;
  } while (line_.find_first_not_of(" \t\r") == std::string::npos);
  const auto object = json::parse(line_, nullptr, /*allow_exceptions=*/false);
  if (!object.is_object()) {
    lines_.fail_at(lines_.line_number(), object.is_discarded() ? "this is not JSON" : "this is not a JSON object",
                   "; the file must have an object such as {\"text\": \"...\", \"label\": 0} on each line");
  }
  record.line_number = lines_.line_number();
  record.values.clear();
  for (const auto& key : keys_) {
    const bool is_list = first_is_list_ && record.values.empty();
    record.values.push_back(value_of(object, key, is_list, lines_));
  }
  return true;
}

}  // namespace transformers::text
