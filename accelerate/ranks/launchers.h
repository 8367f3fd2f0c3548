#pragma once

// debug_launcher and notebook_launcher: run a training function on several processes of this machine.

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "accelerate/base/environment.h"
#include "accelerate/precision/mixed_precision.h"
#include "accelerate/ranks/fork_ranks.h"
#include "accelerate/tensors/archive.h"

namespace accelerate::ranks {

/// Calls `function(args...)` in `num_processes` forked processes on the CPU. An Accelerator or PartialState created
/// there is one rank of a job of `num_processes` ranks. Returns when all have returned. Throws RankError for the root
/// cause if ranks fail. The function works on copies, so it must save or print its results itself.
template <class Function, class... Args>
void debug_launcher(Function&& function, int num_processes = 2, const Args&... args) {
  auto body = [&](int) {
    std::invoke(function, args...);
    return std::string();
  };
  fork_ranks(num_processes, body, {.environment = {{"ACCELERATE_MIXED_PRECISION", "no"}}});
}

}  // namespace accelerate::ranks

namespace accelerate {
using ranks::debug_launcher;
}  // namespace accelerate

namespace accelerate::ranks {

struct NotebookLauncherOptions {
  std::optional<int> num_processes =
      std::nullopt;  // of this machine; if not set, one per GPU, or one per core without GPUs
  std::optional<MixedPrecision> mixed_precision = std::nullopt;  // for Accelerators of the ranks that set none
  std::optional<int> use_port = std::nullopt;                    // of the rendezvous; else a free one, on one machine
  std::string master_addr = "127.0.0.1";                         // of the machine whose node_rank is 0
  int node_rank = 0;
  int num_nodes = 1;
  int max_restarts = 0;                                      // after a rank has failed
  std::chrono::milliseconds monitor_interval{100};           // from a failure to the next start
  std::chrono::milliseconds timeout{0};                      // for all ranks to return; 0 waits forever
  std::chrono::milliseconds grace{3000};                     // from an interrupt or a failure to SIGKILL
  std::string log_line_prefix_template = "[rank${rank}]: ";  // before each line, with more than one rank
  std::vector<EnvironmentVariable> environment = {};         // for every rank
};

/// notebook_launcher for a function without arguments that returns bytes.
std::vector<std::string> launch_function(const std::function<std::string()>& function,
                                         const NotebookLauncherOptions& options,
                                         std::optional<std::string> mixed_precision);

/// Calls `function(args...)` in several processes. An Accelerator created there is a rank of one job. Returns when all
/// have returned: nothing for a function without a result, else a vector of the results of this machine's ranks, in
/// rank order. Results are sent as gather_object sends them. On node 0 the first element is that of the main process.
///
/// The processes are forked, even a single one. They see copies of everything here; their changes and crashes do not
/// affect this process. Works after this process has computed with libtorch. Throws Error if this process has an
/// Accelerator or PartialState itself.
///
/// If a rank throws, crashes or is killed, the others are stopped. Then all ranks are restarted if `max_restarts`
/// allows it, else RankError is thrown, with the rank and its message. SIGINT and SIGTERM are forwarded to every rank
/// and end the call with an Error, and so does the time-out.
template <class Function, class... Args>
auto notebook_launcher(Function&& function, const NotebookLauncherOptions& options = {}, const Args&... args) {
  using Result = std::remove_cvref_t<std::invoke_result_t<Function&, const Args&...>>;
  auto packed = [&]() -> std::string {
    if constexpr (std::is_void_v<Result>) {
      std::invoke(function, args...);
      return {};
    } else {
      return tensors::pack<Result>(std::invoke(function, args...));
    }
  };
  std::optional<std::string> precision;
  if (options.mixed_precision) precision = precision::to_string(*options.mixed_precision);
  auto bytes = launch_function(packed, options, precision);
  if constexpr (!std::is_void_v<Result>) {
    std::vector<Result> results;
    for (const auto& part : bytes) results.push_back(tensors::unpack<Result>(part));
    return results;
  }
}

}  // namespace accelerate::ranks

namespace accelerate {
using ranks::notebook_launcher;
using ranks::NotebookLauncherOptions;
using ranks::RankError;
}  // namespace accelerate
