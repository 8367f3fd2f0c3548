#pragma once

// Which ranks share a machine, its memory, its NUMA nodes, its cores and its network. Each rank publishes one card in
// the rendezvous, and a Topology is computed from the cards alone. Does not use libtorch.

#include <sys/types.h>

#include <iosfwd>
#include <optional>
#include <string>
#include <vector>

namespace accelerate::comm {

/// What a rank publishes about itself when it joins the job.
struct RankCard {
  std::string job = {};  // world size, run id and library version, in words; the same on all ranks
  std::string host = {};
  std::string boot_id = {};          // unique for a machine and a boot of its kernel; empty if the kernel does not tell
  std::string network = {};          // the network namespace; containers normally have their own
  std::vector<int> cores = {};       // that the rank may run on, sorted
  std::vector<int> numa_nodes = {};  // of these cores, sorted
  int local_rank = 0;                // by the launcher
  pid_t pid = 0;
  bool shares_memory = true;  // false if the rank asks for TCP

  /// Converts to the text in the store, and back. Text of another format becomes a card with that text as its job.
  std::string to_text() const;
  static RankCard from_text(const std::string& text);

  /// Reads the next of several texts.
  static RankCard read(std::istream& texts);

  bool operator==(const RankCard&) const = default;
};

/// The ranks of a group by machine: machines in the order of their first ranks, the ranks of each in rank order.
using Machines = std::vector<std::vector<int>>;

/// The index of a rank's machine, and of the rank on that machine.
struct MachinePlace {
  int machine = 0;
  int number = 0;

  bool operator==(const MachinePlace&) const = default;
};

/// The place of `rank` in the list of machines.
MachinePlace place_of(const Machines& machines, int rank);

/// Whether all machines have the same number of ranks.
bool all_alike(const Machines& machines);

/// The ranks that share something with a rank, itself included.
struct Sharers {
  int count = 1;
  int index = 0;  // of the rank itself among them, in rank order

  bool operator==(const Sharers&) const = default;
};

/// The topology of a job. Two ranks are on the same machine if they run on the same kernel and in the same network
/// namespace. Containers with their own networks are machines of their own: their ranks cannot connect through Unix
/// sockets or the loopback address.
class Topology {
 public:
  /// `cards` are in rank order.
  explicit Topology(std::vector<RankCard> cards) : cards_(std::move(cards)) {}

  int size() const { return static_cast<int>(cards_.size()); }
  const RankCard& card(int rank) const { return cards_[rank]; }

  bool same_machine(int left, int right) const;

  /// Whether all ranks are on one machine, so that they reach each other at the loopback address.
  bool one_machine() const;

  /// The machines of `ranks`, given by their indices in `ranks`.
  Machines machines_of(const std::vector<int>& ranks) const;

  /// The rank that does what is done once per machine. Each launcher on a host counts as a machine here. Works for
  /// block and for cyclic distribution of ranks (srun --distribution=cyclic, mpirun --map-by node).
  int leader_of(int rank) const;

  /// Whether no rank asks for TCP.
  bool all_want_memory() const;

  /// The first rank that cannot identify its machine for certain, without a boot id.
  std::optional<int> first_unidentified() const;

  /// The ranks that may run on a core of `rank`. Containers of one machine share its cores too.
  Sharers core_sharers(int rank) const;

  /// The ranks that may run on a NUMA node of `rank`.
  Sharers numa_sharers(int rank) const;

 private:
  bool same_kernel(int left, int right) const;
  Sharers sharers_of(int rank, std::vector<int> RankCard::* resource) const;

  std::vector<RankCard> cards_;
};

}  // namespace accelerate::comm
