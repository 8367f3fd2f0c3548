#pragma once

// Forwards what forked ranks print to the streams of their parent: live, in whole lines, each prefixed with the rank.

#include <string>
#include <utility>
#include <vector>

#include "accelerate/process/rank_output.h"

namespace accelerate::ranks {

class RankStreams {
 public:
  /// Creates streams for `num_ranks` ranks, starting at `first_rank` of the job. ${rank} and ${local_rank} in
  /// `line_prefix` are replaced. If it is empty, ranks keep the streams of this process.
  RankStreams(const std::string& line_prefix, int first_rank, int num_ranks);

  /// Called in a forked rank: redirects standard output and error to its streams. Output is line-buffered.
  void redirect(int local_rank);

  /// Called in the parent when all ranks have started: forwards lines until the object is destroyed.
  void start() { output_.start(); }

 private:
  process::RankOutput output_;
  std::vector<std::pair<int, int>> streams_;  // output and errors of each rank
};

/// `line_prefix` with ${rank} and ${local_rank} replaced.
std::string prefix_of(std::string line_prefix, int rank, int local_rank);

}  // namespace accelerate::ranks
