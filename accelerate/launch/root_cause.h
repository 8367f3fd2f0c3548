#pragma once

// Finds the root cause among the ranks that failed.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

namespace accelerate::launch {

/// A rank that failed by itself, not because it was told to stop, and the evidence it left.
struct Failure {
  using Time = std::filesystem::file_time_type;

  int wait_status = 0;
  int order = 0;                                 // position in the order in which the ranks ended
  Time ended = {};                               // when the launcher noticed
  std::optional<Time> reported = std::nullopt;   // when it wrote its error.json
  std::optional<Time> lost_peer = std::nullopt;  // when it recorded that a peer is gone or does not answer
};

/// Whether the rank is a victim: it recorded the loss of a peer before it reported any error.
bool is_victim(const Failure& failure);

/// The best known time at which the failure began.
Failure::Time begin_of(const Failure& failure);

/// The index of the root cause. The evidence counts in this order:
///
/// 1. A rank that lost a peer is a victim. Any other rank comes before it, even if that one ended later: a process may
///    take longer to end than its peers take to notice and report it.
/// 2. A killed rank comes before those that ended by themselves. It cannot report, and peers that record nothing, such
///    as programs without this library, end because of it. SIGABRT does not count: every uncaught exception ends in it,
///    including one about a lost peer.
/// 3. The failure that began first: when it was reported or the loss was recorded, otherwise when the rank ended.
/// 4. The order of the ends.
size_t root_cause(const std::vector<Failure>& failures);

}  // namespace accelerate::launch
