#pragma once

// Which of the ranks that failed is to blame.

#include <chrono>
#include <cstddef>
#include <filesystem>
#include <optional>
#include <vector>

namespace accelerate::launch {

/// A rank that ended badly by itself, not because it was told to stop.
struct Failure {
  int wait_status = 0;
  int order = 0;                                                           // in which the launcher saw ranks end
  std::optional<std::filesystem::file_time_type> reported = std::nullopt;  // when it wrote its error.json
};

/// The index of the failure that came first. A rank that was killed comes before ranks that report an error: it cannot
/// report, and its peers complain about losing it. Among reports the earliest counts, else the order of the ends.
size_t root_cause(const std::vector<Failure>& failures);

}  // namespace accelerate::launch
