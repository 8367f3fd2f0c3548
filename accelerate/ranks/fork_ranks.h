#pragma once

// Runs a function on several ranks of this machine: forked processes with the environment variables that a launcher
// would set.

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"

namespace accelerate::ranks {

/// A rank threw, crashed or exited. The message says which one and why.
class RankError : public Error {
 public:
  RankError(int rank, const std::string& message) : Error(message), rank_(rank) {}

  int rank() const { return rank_; }

 private:
  int rank_;
};

/// The place of this machine in a job.
struct Node {
  int rank = 0;
  int num_nodes = 1;
  std::string main_address = "127.0.0.1";  // of the machine with rank 0
  int main_port = 0;                       // of the rendezvous; 0 takes a free port, on one machine only
};

struct ForkOptions {
  std::chrono::milliseconds timeout{0};               // for all ranks to return; 0 waits forever
  std::chrono::milliseconds grace{3000};              // from asking ranks to stop to SIGKILL
  std::vector<EnvironmentVariable> environment = {};  // for every rank, in addition to those of the job
  Node node = {};
  bool use_cpu = true;  // even if there is a GPU

  /// The prefix of each line that a rank prints, with ${rank} and ${local_rank}. If it is empty, ranks write directly
  /// to the streams of this process, and their lines may interleave.
  std::string line_prefix = {};

  /// Forward SIGINT and SIGTERM to the ranks instead of ending this process; the call then throws Error.
  bool pass_signals_on = false;
};

/// Calls `body(rank)` in `num_processes` forked processes and returns their results, in rank order. Safe after this
/// process has computed with libtorch. `body` sees copies of everything here, and its changes stay in its process.
///
/// If a rank throws, crashes or exits, stops the others and throws RankError with the rank and its message. If the time
/// is up, throws Error naming the ranks that still ran. No process outlives the call.
std::vector<std::string> fork_ranks(int num_processes, const std::function<std::string(int rank)>& body,
                                    const ForkOptions& options = {});

}  // namespace accelerate::ranks
