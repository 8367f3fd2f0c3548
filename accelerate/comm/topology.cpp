#include "accelerate/comm/topology.h"

#include <algorithm>
#include <cassert>
#include <iomanip>
#include <sstream>

#include "accelerate/base/error.h"

namespace accelerate::comm {

namespace {

void write_numbers(std::ostream& out, const std::vector<int>& numbers) {
  out << ' ' << numbers.size();
  for (int number : numbers) out << ' ' << number;
}

std::vector<int> read_numbers(std::istream& in) {
  std::vector<int> numbers;
  size_t count = 0;
  in >> count;
  for (int number = 0; numbers.size() < count && in >> number;) numbers.push_back(number);
  return numbers;
}

/// Both are sorted.
bool have_a_number_in_common(const std::vector<int>& left, const std::vector<int>& right) {
  return std::any_of(left.begin(), left.end(),
                     [&](int number) { return std::binary_search(right.begin(), right.end(), number); });
}

}  // namespace

std::string RankCard::to_text() const {
  std::ostringstream text;
  for (const auto* field : {&job, &host, &boot_id, &network}) text << std::quoted(*field) << ' ';
  text << local_rank << ' ' << pid << ' ' << shares_memory;
  write_numbers(text, cores);
  write_numbers(text, numa_nodes);
  return text.str();
}

RankCard RankCard::read(std::istream& texts) {
  RankCard card;
  for (auto* field : {&card.job, &card.host, &card.boot_id, &card.network}) texts >> std::quoted(*field);
  texts >> card.local_rank >> card.pid >> card.shares_memory;
  card.cores = read_numbers(texts);
  card.numa_nodes = read_numbers(texts);
  return card;
}

RankCard RankCard::from_text(const std::string& text) {
  std::istringstream stream(text);
  auto card = read(stream);
  return stream ? card : RankCard{.job = text};
}

MachinePlace place_of(const Machines& machines, int rank) {
  for (size_t machine = 0; machine < machines.size(); ++machine) {
    const auto& ranks = machines[machine];
    auto found = std::find(ranks.begin(), ranks.end(), rank);
    if (found != ranks.end()) return {static_cast<int>(machine), static_cast<int>(found - ranks.begin())};
  }
  fail("there is no rank ", rank, " on any of ", machines.size(), " machines");
}

bool all_alike(const Machines& machines) {
  return std::all_of(machines.begin(), machines.end(),
                     [&](const auto& ranks) { return ranks.size() == machines.front().size(); });
}

bool Topology::same_kernel(int left, int right) const {
  const auto& a = cards_[left];
  const auto& b = cards_[right];
  return a.boot_id == b.boot_id && (!a.boot_id.empty() || a.host == b.host);
}

bool Topology::same_machine(int left, int right) const {
  return same_kernel(left, right) && cards_[left].network == cards_[right].network;
}

bool Topology::one_machine() const {
  for (int rank = 1; rank < size(); ++rank) {
    if (!same_machine(0, rank)) return false;
  }
  return true;
}

Machines Topology::machines_of(const std::vector<int>& ranks) const {
  Machines machines;
  for (size_t index = 0; index < ranks.size(); ++index) {
    auto same = std::find_if(machines.begin(), machines.end(),
                             [&](const auto& members) { return same_machine(ranks[members.front()], ranks[index]); });
    if (same == machines.end()) same = machines.insert(machines.end(), std::vector<int>{});
    same->push_back(static_cast<int>(index));
  }
  return machines;
}

int Topology::leader_of(int rank) const {
  const int first = rank - cards_[rank].local_rank;  // in block distribution, also if machines share a host
  if (first >= 0 && cards_[first].local_rank == 0 && same_machine(first, rank)) return first;
  int leader = 0;
  while (!same_machine(leader, rank)) ++leader;
  return leader;
}

bool Topology::all_want_memory() const {
  return std::all_of(cards_.begin(), cards_.end(), [](const auto& card) { return card.shares_memory; });
}

std::optional<int> Topology::first_unidentified() const {
  auto found = std::find_if(cards_.begin(), cards_.end(), [](const auto& card) { return card.boot_id.empty(); });
  return found == cards_.end() ? std::nullopt : std::optional(static_cast<int>(found - cards_.begin()));
}

Sharers Topology::sharers_of(int rank, std::vector<int> RankCard::* resource) const {
  assert(rank >= 0 && rank < size());
  Sharers sharers{.count = 1, .index = 0};
  for (int other = 0; other < size(); ++other) {
    if (other == rank || !same_kernel(rank, other)) continue;
    if (!have_a_number_in_common(cards_[rank].*resource, cards_[other].*resource)) continue;
    ++sharers.count;
    sharers.index += other < rank;
  }
  return sharers;
}

Sharers Topology::core_sharers(int rank) const { return sharers_of(rank, &RankCard::cores); }

Sharers Topology::numa_sharers(int rank) const { return sharers_of(rank, &RankCard::numa_nodes); }

}  // namespace accelerate::comm
