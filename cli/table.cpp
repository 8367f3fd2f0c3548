#include "cli/table.h"

#include <algorithm>
#include <numeric>

namespace accelerate::cli {

namespace {

/// Centred as Python's str.center does it.
std::string center(const std::string& text, size_t width) {
  if (text.size() >= width) return text;
  auto padding = width - text.size();
  auto left = padding / 2 + (padding & width & 1);
  return std::string(left, ' ') + text + std::string(padding - left, ' ');
}

std::string repeat(const std::string& text, size_t times) {
  std::string result;
  for (size_t i = 0; i < times; ++i) result += text;
  return result;
}

std::string draw_line(const std::vector<size_t>& widths, const std::string& left, const std::string& middle,
                      const std::string& right) {
  std::string line = left;
  for (size_t i = 0; i < widths.size(); ++i) line += (i == 0 ? "" : middle) + repeat("─", widths[i]);
  return line + right + "\n";
}

std::string draw_row(const std::vector<size_t>& widths, const std::vector<std::string>& cells) {
  std::string line = "│";
  for (size_t i = 0; i < widths.size(); ++i) line += center(cells[i], widths[i]) + "│";
  return line + "\n";
}

}  // namespace

std::string draw_table(const std::string& title, const std::vector<std::string>& headers,
                       const std::vector<std::vector<std::string>>& rows) {
  std::vector<size_t> widths;
  for (size_t i = 0; i < headers.size(); ++i) {
    widths.push_back(headers[i].size());
    for (const auto& row : rows) widths[i] = std::max(widths[i], row[i].size());
  }
  auto inner = std::accumulate(widths.begin(), widths.end(), widths.size() - 1);
  if (title.size() + 2 > inner) widths.back() += title.size() + 2 - inner;
  inner = std::max(inner, title.size() + 2);

  auto table = draw_line(widths, "┌", "─", "┐") + "│" + center(title, inner) + "│\n" +
               draw_line(widths, "├", "┬", "┤") + draw_row(widths, headers) + draw_line(widths, "├", "┼", "┤");
  for (const auto& row : rows) table += draw_row(widths, row);
  return table + draw_line(widths, "└", "┴", "┘");
}

}  // namespace accelerate::cli
