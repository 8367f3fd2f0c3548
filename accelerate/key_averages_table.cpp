// The table of KeyAverages, in the layout of torch.profiler.

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <map>
#include <numeric>

#include "accelerate/base/error.h"
#include "accelerate/key_averages.h"

namespace accelerate {

namespace {

constexpr size_t kColumnWidth = 12;

std::string decimal(double value, int digits, const char* unit) {
  std::array<char, 400> text{};
  std::snprintf(text.data(), text.size(), "%.*f%s", digits, value, unit);
  return text.data();
}

std::string format_time(double time_us, const std::string& unit) {
  if (unit == "s" || (unit.empty() && time_us >= 1e6)) return decimal(time_us / 1e6, 3, "s");
  if (unit == "ms" || (unit.empty() && time_us >= 1e3)) return decimal(time_us / 1e3, 3, "ms");
  return decimal(time_us, 3, "us");
}

std::string format_share(double time_us, double total_us) {
  return total_us == 0 ? "NaN" : decimal(time_us * 100.0 / total_us, 2, "%");
}

std::string format_memory(int64_t bytes) {
  const double size = static_cast<double>(bytes);
  if (std::abs(size) >= 1 << 30) return decimal(size / (1 << 30), 2, " GB");
  if (std::abs(size) >= 1 << 20) return decimal(size / (1 << 20), 2, " MB");
  if (std::abs(size) >= 1 << 10) return decimal(size / (1 << 10), 2, " KB");
  return std::to_string(bytes) + " B";
}

struct FlopsUnit {
  double scale = 1;
  std::string name = {};  // empty if nothing was counted
};

/// The largest unit in which the smallest count is at least 1.
FlopsUnit flops_unit(const std::vector<const FunctionEventAvg*>& rows) {
  static constexpr std::array kNames = {"FLOPs", "KFLOPs", "MFLOPs", "GFLOPs", "TFLOPs", "PFLOPs"};
  int64_t smallest = 0;
  for (const auto* row : rows) {
    if (row->flops > 0 && (smallest == 0 || row->flops < smallest)) smallest = row->flops;
  }
  if (smallest == 0) return {};
  const double thousands = std::clamp(std::log10(static_cast<double>(smallest)) / 3, 0.0, kNames.size() - 1.0);
  return {std::pow(10, std::floor(thousands) * -3.0), kNames[static_cast<size_t>(thousands)]};
}

using SortKey = double (*)(const FunctionEventAvg&);

SortKey sort_key(const std::string& name) {
  static const std::map<std::string, SortKey> keys = {
      {"cpu_time", [](const FunctionEventAvg& e) { return e.cpu_time(); }},
      {"cpu_time_total", [](const FunctionEventAvg& e) { return e.cpu_time_total; }},
      {"self_cpu_time_total", [](const FunctionEventAvg& e) { return e.self_cpu_time_total; }},
      {"cpu_memory_usage", [](const FunctionEventAvg& e) { return static_cast<double>(e.cpu_memory_usage); }},
      {"self_cpu_memory_usage", [](const FunctionEventAvg& e) { return static_cast<double>(e.self_cpu_memory_usage); }},
      {"count", [](const FunctionEventAvg& e) { return static_cast<double>(e.count); }},
      {"flops", [](const FunctionEventAvg& e) { return static_cast<double>(e.flops); }}};
  const auto found = keys.find(name);
  if (found != keys.end()) return found->second;
  fail("key_averages: sort_by is '", name,
       "'; it can be cpu_time, cpu_time_total, self_cpu_time_total, cpu_memory_usage, self_cpu_memory_usage, count or ",
       "flops");
}

/// Right-aligned columns of text.
class TextTable {
 public:
  void add_column(const std::string& header, size_t width) {
    headers_.push_back(header);
    widths_.push_back(width);
  }

  std::string rule() const {
    std::string text;
    for (size_t width : widths_) text += std::string(width, '-') + "  ";
    return text + "\n";
  }

  std::string header_row() const { return row(headers_); }

  std::string row(const std::vector<std::string>& cells) const {
    std::string text;
    for (size_t i = 0; i < cells.size(); ++i) {
      text += std::string(widths_[i] - std::min(widths_[i], cells[i].size()), ' ') + cells[i] + "  ";
    }
    return text + "\n";
  }

  size_t width() const { return std::accumulate(widths_.begin(), widths_.end(), size_t{0}) + 2 * (widths_.size() - 1); }

 private:
  std::vector<std::string> headers_;
  std::vector<size_t> widths_;
};

/// The length of the longest text plus four, at most `limit`.
template <class Text>
size_t column_width(const std::vector<const FunctionEventAvg*>& rows, int64_t limit, Text text) {
  size_t longest = 0;
  for (const auto* row : rows) longest = std::max(longest, text(*row).size());
  return std::min(longest + 4, static_cast<size_t>(limit));
}

std::string shortened(const std::string& name, int64_t width) {
  const auto room = static_cast<size_t>(width - 3);
  return name.size() >= room ? name.substr(0, room) + "..." : name;
}

}  // namespace

std::string KeyAverages::table(const ProfileTableOptions& options) const {
  const auto& unit = options.time_unit;
  if (!unit.empty() && unit != "s" && unit != "ms" && unit != "us") {
    fail("key_averages: time_unit is '", unit, "'; it can be s, ms or us");
  }
  std::vector<const FunctionEventAvg*> rows;
  for (const auto& average : averages_) rows.push_back(&average);
  if (!options.sort_by.empty()) {
    const auto key = sort_key(options.sort_by);
    std::stable_sort(rows.begin(), rows.end(), [&](const auto* a, const auto* b) { return key(*a) > key(*b); });
  }
  if (rows.empty()) return "";

  const auto key_of = [](const FunctionEventAvg& row) -> const std::string& { return row.key; };
  const auto shapes_of = [](const FunctionEventAvg& row) -> const std::string& { return row.input_shapes; };
  const bool has_shapes =
      std::any_of(rows.begin(), rows.end(), [](const auto* row) { return row->input_shapes.size() > 2; });
  const auto shapes_width = column_width(rows, options.max_shapes_column_width, shapes_of);
  const auto flops = with_flops_ ? flops_unit(rows) : FlopsUnit{};

  TextTable table;
  table.add_column("Name", column_width(rows, options.max_name_column_width, key_of));
  for (const char* header : {"Self CPU %", "Self CPU", "CPU total %", "CPU total", "CPU time avg"}) {
    table.add_column(header, kColumnWidth);
  }
  if (profile_memory_) {
    table.add_column("CPU Mem", kColumnWidth);
    table.add_column("Self CPU Mem", kColumnWidth);
  }
  table.add_column("# of Calls", kColumnWidth);
  if (has_shapes) table.add_column("Input Shapes", shapes_width);
  if (!flops.name.empty()) table.add_column("Total " + flops.name, kColumnWidth);

  const double total = self_cpu_time_total();
  const std::string line = std::string(table.width(), '=') + "\n";
  std::string text;
  if (options.header) text += line + *options.header + "\n";
  if (options.top_level_events_only) text += line + "This report only display top-level ops statistics\n";
  text += table.rule() + table.header_row() + table.rule();
  int64_t num_rows = 0;
  for (const auto* row : rows) {
    if (num_rows == options.row_limit) break;
    if (options.top_level_events_only && !row->is_top_level) continue;
    ++num_rows;
    std::vector<std::string> cells = {shortened(row->key, options.max_name_column_width),
                                      format_share(row->self_cpu_time_total, total),
                                      format_time(row->self_cpu_time_total, unit),
                                      row->is_async ? "0" : format_share(row->cpu_time_total, total),
                                      format_time(row->cpu_time_total, unit),
                                      format_time(row->cpu_time(), unit)};
    if (profile_memory_) {
      cells.push_back(format_memory(row->cpu_memory_usage));
      cells.push_back(format_memory(row->self_cpu_memory_usage));
    }
    cells.push_back(std::to_string(row->count));
    if (has_shapes) cells.push_back(row->input_shapes.substr(0, shapes_width));
    if (!flops.name.empty()) {
      std::array<char, 64> number{};
      std::snprintf(number.data(), number.size(), "%8.3f", static_cast<double>(row->flops) * flops.scale);
      cells.push_back(row->flops <= 0 ? "--" : number.data());
    }
    text += table.row(cells);
  }
  return text + table.rule() + "Self CPU time total: " + format_time(total, unit) + "\n";
}

}  // namespace accelerate
