#include "accelerate/ranks/run_ranks.h"

#include "accelerate/comm/partial_state.h"
#include "accelerate/ranks/fork_ranks.h"

namespace accelerate::ranks {

void run_ranks(int num_processes, const std::function<void(comm::Group&)>& body, const RunRanksOptions& options) {
  auto join_and_run = [&](int) {
    comm::Group group = comm::PartialState().group();
    body(group);
    return std::string();
  };
  fork_ranks(num_processes, join_and_run, {.timeout = options.timeout});
}

}  // namespace accelerate::ranks
