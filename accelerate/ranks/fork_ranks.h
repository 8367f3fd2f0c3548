#pragma once

// Runs a function on several ranks of this machine: forked processes that find each other through the environment, as
// if a launcher had started them.

#include <chrono>
#include <functional>
#include <string>
#include <vector>

#include "accelerate/base/environment.h"
#include "accelerate/base/error.h"

namespace accelerate::ranks {

/// A rank threw, crashed or exited; the message says which and why.
class RankError : public Error {
 public:
  RankError(int rank, const std::string& message) : Error(message), rank_(rank) {}

  int rank() const { return rank_; }

 private:
  int rank_;
};

/// Which machine of a job this is.
struct Node {
  int rank = 0;
  int num_nodes = 1;
  std::string main_address = "127.0.0.1";  // of the machine with rank 0
  int main_port = 0;                       // where the ranks meet; 0 takes a free port, on one machine
};

struct ForkOptions {
  std::chrono::milliseconds timeout{0};               // for all ranks to return; 0 waits for ever
  std::chrono::milliseconds grace{3000};              // from asking ranks to stop to killing them
  std::vector<EnvironmentVariable> environment = {};  // for every rank, beside those of the job
  Node node = {};
  bool use_cpu = true;  // although there may be a GPU

  /// What stands before each line that a rank prints, with ${rank} and ${local_rank}. When it is empty ranks write to
  /// the streams of this process themselves, and their lines may mix.
  std::string line_prefix = {};

  /// Hold SIGINT and SIGTERM back from this process; they go to the ranks, and the call ends with an Error.
  bool pass_signals_on = false;
};

/// Calls `body(rank)` in `num_processes` forked processes and returns what they returned, in rank order. Safe after
/// this process has computed with libtorch; `body` sees copies of everything here, and what it changes stays in its
/// process.
///
/// When a rank throws, crashes or exits, the others are stopped and RankError is thrown, naming the rank and its
/// message. When time is up, Error names the ranks that still ran. No process outlives the call.
std::vector<std::string> fork_ranks(int num_processes, const std::function<std::string(int rank)>& body,
                                    const ForkOptions& options = {});

}  // namespace accelerate::ranks
