#pragma once

// Which of the ranks that failed is to blame.

#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

namespace accelerate::launch {

/// A rank that ended badly by itself, not because it was told to stop, and what it left behind.
struct Failure {
  using Time = std::filesystem::file_time_type;

  int wait_status = 0;
  int order = 0;                                 // in which the ranks ended
  Time ended = {};                               // when the launcher saw that
  std::optional<Time> reported = std::nullopt;   // when it wrote its error.json
  std::optional<Time> lost_peer = std::nullopt;  // when it noted that another rank is gone or does not answer
};

/// Whether the rank failed because of another one: it noted the loss of a peer before it reported any error.
bool is_victim(const Failure& failure);

/// When the failure began, as far as is known.
Failure::Time begin_of(const Failure& failure);

/// The index of the failure that caused the others. The evidence counts in this order:
///
/// 1. A rank that lost a peer is a victim; any other rank comes before it, whenever that one has ended. A process may
///    take longer to end than its peers take to notice and to complain.
/// 2. A rank that was killed comes before those that ended by themselves: it cannot report, and peers that leave no
///    note, such as other programs than ours, end because of it. SIGABRT does not count: it is what an exception ends
///    in that nobody caught, also one about a lost peer.
/// 3. The failure that began first: when it was reported or the loss was noted, else when the rank ended.
/// 4. The order of the ends.
size_t root_cause(const std::vector<Failure>& failures);

}  // namespace accelerate::launch
