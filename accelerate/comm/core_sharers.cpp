#include "accelerate/comm/core_sharers.h"

#include <algorithm>
#include <sstream>

#include "accelerate/base/cpu.h"
#include "accelerate/base/host_name.h"
#include "accelerate/comm/quiet_c10d.h"
#include "accelerate/comm/store_text.h"

namespace accelerate::comm {

namespace {

bool have_a_core_in_common(const RankCores& left, const RankCores& right) {
  return left.machine == right.machine && std::any_of(left.cores.begin(), left.cores.end(), [&](int core) {
           return std::binary_search(right.cores.begin(), right.cores.end(), core);
         });
}

std::string to_line(const RankCores& cores) {
  std::ostringstream line;
  line << cores.machine;
  for (int core : cores.cores) line << ' ' << core;
  line << '\n';
  return line.str();
}

RankCores from_line(const std::string& line) {
  std::istringstream words(line);
  RankCores cores;
  words >> cores.machine;
  for (int core = 0; words >> core;) cores.cores.push_back(core);
  return cores;
}

}  // namespace

CoreSharers find_core_sharers(const std::vector<RankCores>& ranks, int rank) {
  CoreSharers sharers{.count = 1, .index = 0};
  for (int other = 0; other < static_cast<int>(ranks.size()); ++other) {
    if (other == rank || !have_a_core_in_common(ranks[rank], ranks[other])) continue;
    ++sharers.count;
    sharers.index += other < rank;
  }
  return sharers;
}

CoreSharers find_core_sharers(c10d::Store& store, int rank, int size) {
  QuietC10d quiet;
  auto key = [](int rank) { return "cores/" + std::to_string(rank); };
  store.set(key(rank), bytes_of(to_line({.machine = boot_id().value_or(host_name()), .cores = allowed_cores()})));
  if (rank == 0) {
    std::string all;
    for (int other = 0; other < size; ++other) all += text_of(store, key(other));
    store.set("cores", bytes_of(all));
  }
  std::istringstream lines(text_of(store, "cores"));
  std::vector<RankCores> ranks;
  for (std::string line; std::getline(lines, line);) ranks.push_back(from_line(line));
  return find_core_sharers(ranks, rank);
}

}  // namespace accelerate::comm
