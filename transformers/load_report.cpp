#include <algorithm>
#include <map>
#include <regex>
#include <sstream>

#include "accelerate/base/text.h"
#include "transformers/weights.h"

namespace transformers {

namespace {

using accelerate::listed;

/// "{0, 1, 2}"; of more than ten the first and the last.
std::string text_of_layers(const std::vector<int64_t>& layers) {
  if (layers.size() == 1) return listed(layers);
  std::ostringstream text;
  if (layers.size() > 10) {
    text << "{" << layers.front() << "..." << layers.back() << "}";
  } else {
    text << "{" << listed(layers) << "}";
  }
  return text.str();
}

/// Names that differ in their layer's number alone become one.
std::vector<std::string> merge_layers(const std::vector<std::string>& names) {
  static const std::regex number("\\.(\\d+)\\.");
  std::vector<std::string> merged;
  std::map<std::pair<std::string, std::string>, std::vector<int64_t>> layers;  // by what is before and after the number
  for (const auto& name : names) {
    std::smatch match;
    if (std::regex_search(name, match, number)) {
      layers[{match.prefix(), match.suffix()}].push_back(std::stoll(match[1]));
    } else {
      merged.push_back(name);
    }
  }
  for (auto& [around, numbers] : layers) {
    std::sort(numbers.begin(), numbers.end());
    std::ostringstream name;
    name << around.first << '.' << text_of_layers(numbers) << '.' << around.second;
    merged.push_back(name.str());
  }
  std::sort(merged.begin(), merged.end());
  return merged;
}

}  // namespace

std::string LoadReport::table() const {
  struct Row {
    std::string key, status, details;
  };
  std::vector<Row> rows;
  for (const auto& name : merge_layers(unexpected)) rows.push_back({name, "UNEXPECTED", ""});
  for (const auto& name : merge_layers(missing)) rows.push_back({name, "MISSING", ""});
  for (const auto& [name, checkpoint, model] : mismatched) {
    std::ostringstream shapes;
    shapes << "checkpoint [" << listed(checkpoint) << "], model [" << listed(model) << "]";
    rows.push_back({name, "MISMATCH", shapes.str()});
  }
  size_t width = 3;
  for (const auto& row : rows) width = std::max(width, row.key.size());

  std::ostringstream text;
  auto line = [&](const std::string& key, const std::string& status, const std::string& details) {
    text << key << std::string(width - key.size(), ' ') << " | " << status << std::string(10 - status.size(), ' ')
         << (details.empty() ? "" : " | ") << details << '\n';
  };
  line("Key", "Status", "");
  text << std::string(width, '-') << "-+-----------\n";
  for (const auto& row : rows) line(row.key, row.status, row.details);
  if (!missing.empty()) text << "MISSING: not in the checkpoint, newly initialised; train the model before using it.\n";
  if (!unexpected.empty())
    text << "UNEXPECTED: only in the checkpoint; expected for another head, but not for the same model.\n";
  if (!mismatched.empty()) text << "MISMATCH: with a different shape, newly initialised.\n";
  return text.str();
}

}  // namespace transformers
