#include "notebook/kernel/history.h"

#include <fnmatch.h>

#include <algorithm>
#include <set>

namespace accelerate::notebook {

namespace {

constexpr int kSession = 0;

/// The last `count` entries of a list as a reply; all of them when the request had no count.
nlohmann::json last_ones(const nlohmann::json::array_t& entries, int count) {
  auto kept = count > 0 ? std::min(entries.size(), static_cast<size_t>(count)) : entries.size();
  nlohmann::json::array_t last(entries.end() - static_cast<long>(kept), entries.end());
  return {{"status", "ok"}, {"history", last}};
}

/// In the form of the protocol: session, number, and the cell alone or with its output.
template <class Cell>
nlohmann::json entry(const Cell& cell, bool output) {
  auto list = nlohmann::json::array({kSession, cell.number, cell.input});
  if (output) list[2] = nlohmann::json::array({cell.input, cell.output});
  return list;
}

}  // namespace

// xeus 2.4 passes line 1 for every cell.
void History::store_inputs_impl(int /*session*/, int /*line*/, const std::string& input, const std::string& output) {
  cells_.push_back({static_cast<int>(cells_.size()) + 1, input, output});
}

History::json History::get_tail_impl(int count, bool /*raw*/, bool output) const {
  json::array_t entries;
  for (const auto& cell : cells_) entries.push_back(entry(cell, output));
  return last_ones(entries, count);
}

History::json History::get_range_impl(int session, int start, int stop, bool /*raw*/, bool output) const {
  json::array_t entries;
  for (const auto& cell : cells_) {
    bool inside = session == kSession && start <= cell.number && cell.number < stop;
    if (inside) entries.push_back(entry(cell, output));
  }
  return last_ones(entries, 0);
}

History::json History::search_impl(const std::string& pattern, bool /*raw*/, bool output, int count,
                                   bool unique) const {
  json::array_t entries;
  std::set<std::string> seen;
  for (auto cell = cells_.rbegin(); cell != cells_.rend(); ++cell) {
    if (fnmatch(pattern.c_str(), cell->input.c_str(), 0) != 0) continue;
    if (unique && !seen.insert(cell->input).second) continue;
    entries.push_back(entry(*cell, output));
  }
  std::reverse(entries.begin(), entries.end());
  return last_ones(entries, count);
}

}  // namespace accelerate::notebook
