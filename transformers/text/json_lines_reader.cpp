#include "transformers/text/json_lines_reader.h"

#include <algorithm>

#include <nlohmann/json.hpp>

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
    // Writing calls itself for each level, and would run out of stack.
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
