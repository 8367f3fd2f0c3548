#include "accelerate/ranks/rank_streams.h"

#include <unistd.h>

#include <cstdio>
#include <string_view>

namespace accelerate::ranks {

RankStreams::RankStreams(const std::string& line_prefix, int first_rank, int num_ranks) {
  for (int local_rank = 0; !line_prefix.empty() && local_rank < num_ranks; ++local_rank) {
    process::StreamTarget target{.local_rank = local_rank,
                                 .console = STDOUT_FILENO,
                                 .prefix = prefix_of(line_prefix, first_rank + local_rank, local_rank)};
    int output = output_.open(target);
    target.is_errors = true;
    target.console = STDERR_FILENO;
    streams_.emplace_back(output, output_.open(target));
  }
}

void RankStreams::redirect(int local_rank) {
  if (streams_.empty()) return;
  dup2(streams_[local_rank].first, STDOUT_FILENO);
  dup2(streams_[local_rank].second, STDERR_FILENO);
  output_.close_all();
  // The parent's standard output may be a file, which is fully buffered. If setvbuf(3) gets no buffer, glibc still
  // buffers the first line fully.
  static char buffer[BUFSIZ];
  std::setvbuf(stdout, buffer, _IOLBF, sizeof(buffer));
}

std::string prefix_of(std::string line_prefix, int rank, int local_rank) {
  auto replace = [&](std::string_view name, int number) {
    for (size_t at; (at = line_prefix.find(name)) != std::string::npos;) {
      line_prefix.replace(at, name.size(), std::to_string(number));
    }
  };
  replace("${rank}", rank);
  replace("${local_rank}", local_rank);
  return line_prefix;
}

}  // namespace accelerate::ranks
