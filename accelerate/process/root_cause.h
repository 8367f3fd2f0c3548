#pragma once

// Finds the root cause among the ranks, or the machines, that failed.

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

namespace accelerate::process {

/// The failure of a rank that ended by itself. A rank that was told to stop has not failed.
struct Failure {
  bool victim = false;  // it recorded the loss of a peer before it reported any error
  bool silent = false;  // it ended without a chance to report
  int64_t began = 0;    // on a clock that all failures share
  int order = 0;        // decides between failures that began at the same time
};

/// The index of the root cause. Failures are compared by these criteria, the most important first:
///
/// 1. A rank that is not a victim comes before a victim, even if it ended later: a process may take longer to end than
///    its peers take to notice and report its loss.
/// 2. A silent rank comes before a rank that reported: peers often report its loss before its process has ended.
/// 3. The failure that began earlier.
/// 4. The failure with the smaller `order`.
size_t root_cause(const std::vector<Failure>& failures);

/// What a launched process leaves behind when it fails.
struct Evidence {
  using Time = std::filesystem::file_time_type;

  int wait_status = 0;
  int order = 0;                                 // position in the order in which the ranks ended
  Time ended = {};                               // when the launcher noticed
  std::optional<Time> reported = std::nullopt;   // when it wrote its error.json
  std::optional<Time> lost_peer = std::nullopt;  // when it recorded that a peer is gone or does not answer
};

/// Whether the process is a victim: it recorded the loss of a peer before it reported any error.
bool is_victim(const Evidence& evidence);

/// The best known time at which the failure began: when it was reported or the loss was recorded, otherwise when the
/// process ended.
Evidence::Time begin_of(const Evidence& evidence);

/// Converts the evidence for root_cause(). A process is silent if a signal ended it before it reported. This finds the
/// root cause even if its peers record no loss, as in programs without this library. SIGABRT is not silent: by default
/// an uncaught exception ends in it, including one about a lost peer.
Failure failure_of(const Evidence& evidence);

}  // namespace accelerate::process
