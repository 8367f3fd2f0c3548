#pragma once

// What forked ranks print, on its way to the streams of the process that forked them: live, in whole lines, with the
// rank before each.

#include <string>
#include <utility>
#include <vector>

#include "accelerate/base/rank_output.h"

namespace accelerate::ranks {

class RankStreams {
 public:
  /// Makes streams for `num_ranks` ranks, the first of which is `first_rank` of the job. In `line_prefix` ${rank} and
  /// ${local_rank} stand for the numbers of a rank; when it is empty ranks keep the streams of this process.
  RankStreams(const std::string& line_prefix, int first_rank, int num_ranks);

  /// In a forked rank: standard output and error are its streams from now on, and every line is written at its end.
  void adopt(int local_rank);

  /// In the process that forked, when all ranks have started: begins to carry lines. Ends with the object.
  void start() { output_.start(); }

 private:
  RankOutput output_;
  std::vector<std::pair<int, int>> streams_;  // output and errors of each rank
};

/// `line_prefix` with the numbers of a rank in it.
std::string prefix_of(std::string line_prefix, int rank, int local_rank);

}  // namespace accelerate::ranks
