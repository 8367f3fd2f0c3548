#include "accelerate/comm/first_of_machine.h"

#include <algorithm>

#include "accelerate/base/host_name.h"

namespace accelerate::comm {

int first_of_machine(const std::vector<MachinePlace>& places, int rank) {
  const auto& own = places[rank];
  const int first = rank - own.local_rank;  // in block distribution, also if machines share a host
  if (first >= 0 && places[first].local_rank == 0 && places[first].host == own.host) return first;
  const auto found =
      std::find_if(places.begin(), places.end(), [&](const MachinePlace& place) { return place.host == own.host; });
  return static_cast<int>(found - places.begin());
}

int first_of_machine(const Group& group, int local_rank) {
  std::vector<MachinePlace> places;
  for (const auto& text : group.all_gather_bytes(std::to_string(local_rank) + " " + host_name())) {
    places.push_back({.host = text.substr(text.find(' ') + 1), .local_rank = std::stoi(text)});
  }
  return first_of_machine(places, group.rank());
}

}  // namespace accelerate::comm
