#include "accelerate/shared_memory/machines.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <sstream>

#include "accelerate/base/error.h"
#include "accelerate/base/host_name.h"
#include "accelerate/base/log.h"

namespace accelerate::shared_memory {

namespace {

// In place of a machine's name.
constexpr auto kUnwilling = "unwilling";
constexpr auto kNameless = "nameless";

/// Every network that a machine is divided into has a name of its own: the sockets through which ranks meet belong to
/// one of those. Nothing where the kernel does not tell.
std::optional<std::string> name_of_machine() {
  auto name = boot_id();
  if (!name) return std::nullopt;
  std::error_code unknown;
  return *name + " " + std::filesystem::read_symlink("/proc/self/ns/net", unknown).string();
}

std::string key_of(int rank) { return "machine/" + std::to_string(rank); }

void warn_of_unknown(int rank) {
  get_logger("accelerate")
      .warning("the ranks talk over TCP, because rank " + std::to_string(rank) +
               " cannot read /proc/sys/kernel/random/boot_id, which tells machines apart");
}

/// Rank 0 hears from everybody. The answer is the number of each rank's machine.
std::string number_machines(const KeyValueStore& store, int size) {
  std::vector<std::string> names;
  for (int rank = 0; rank < size; ++rank) names.push_back(store.get(key_of(rank)));
  const bool willing = std::find(names.begin(), names.end(), kUnwilling) == names.end();
  const auto unknown = std::find(names.begin(), names.end(), kNameless);
  const bool known = unknown == names.end();
  if (willing && !known) warn_of_unknown(static_cast<int>(unknown - names.begin()));
  auto machines = group_by_machine(names);
  std::ostringstream numbers;
  for (int rank = 0; rank < size; ++rank) {
    numbers << (willing && known ? place_of(machines, rank).machine : rank) << ' ';
  }
  return numbers.str();
}

}  // namespace

Machines group_by_machine(const std::vector<std::string>& names) {
  Machines machines;
  for (size_t rank = 0; rank < names.size(); ++rank) {
    auto same = std::find_if(machines.begin(), machines.end(),
                             [&](const auto& ranks) { return names[ranks.front()] == names[rank]; });
    if (same == machines.end()) same = machines.insert(machines.end(), std::vector<int>{});
    same->push_back(static_cast<int>(rank));
  }
  return machines;
}

Place place_of(const Machines& machines, int rank) {
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

Machines find_machines(const KeyValueStore& store, int rank, int size, bool willing) {
  store.set(key_of(rank), willing ? name_of_machine().value_or(kNameless) : kUnwilling);
  if (rank == 0) store.set("machines", number_machines(store, size));
  std::istringstream numbers(store.get("machines"));
  std::vector<std::string> names;
  for (std::string number; numbers >> number;) names.push_back(number);
  return group_by_machine(names);
}

}  // namespace accelerate::shared_memory
