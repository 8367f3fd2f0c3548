#include "accelerate/ranks/fork_ranks.h"

#include <unistd.h>

#include <optional>

#include <ATen/Parallel.h>

#include "accelerate/base/cpu.h"
#include "accelerate/base/loopback_port.h"
#include "accelerate/comm/partial_state.h"
#include "accelerate/process/process_limits.h"
#include "accelerate/process/standard_streams.h"
#include "accelerate/ranks/rank_group.h"
#include "accelerate/ranks/rank_streams.h"

namespace accelerate::ranks {

namespace {

/// The environment variables of a forked rank, as a launcher sets them. `store_fd` is for rank 0.
std::vector<EnvironmentVariable> rank_environment(int local_rank, int num_processes, const Node& node,
                                                  std::optional<int> store_fd) {
  int rank = node.rank * num_processes + local_rank;
  auto fd = rank == 0 && store_fd ? std::optional(std::to_string(*store_fd)) : std::nullopt;
  return {{"RANK", std::to_string(rank)},
          {"LOCAL_RANK", std::to_string(local_rank)},
          {"WORLD_SIZE", std::to_string(node.num_nodes * num_processes)},
          {"LOCAL_WORLD_SIZE", std::to_string(num_processes)},
          {"MASTER_ADDR", node.main_address},
          {"MASTER_PORT", std::to_string(node.main_port)},
          {"ACCELERATE_STORE_FD", fd},
          {"FORK_LAUNCHED", "1"},
          {"TORCHELASTIC_USE_AGENT_STORE", "False"}};
}

void set_variables(const std::vector<EnvironmentVariable>& variables) {
  for (const auto& variable : variables) set_environment_variable(variable);
}

void enter_job(int local_rank, int num_processes, const Node& node, std::optional<LoopbackPort>& store,
               const ForkOptions& options) {
  set_variables(rank_environment(local_rank, num_processes, node, store ? std::optional(store->fd()) : std::nullopt));
  if (options.use_cpu) set_environment_variable({"ACCELERATE_USE_CPU", "1"});
  set_variables(options.environment);
  int threads = wanted_threads().value_or(threads_per_process(num_processes));
  set_environment_variable({"OMP_NUM_THREADS", std::to_string(threads)});
  if (store && local_rank != 0) store->close();
  comm::PartialState::reset();  // the state of the parent does not apply here
  at::set_num_threads(threads);
}

}  // namespace

std::vector<std::string> fork_ranks(int num_processes, const std::function<std::string(int rank)>& body,
                                    const ForkOptions& options) {
  if (num_processes < 1) fail("num_processes is ", num_processes, "; it must be at least 1");
  process::check_process_limits("num_processes is " + std::to_string(num_processes), num_processes,
                                process::process_limits());
  if (comm::PartialState::initialized() && comm::PartialState().use_distributed()) {
    fail("this process is already rank ", comm::PartialState().process_index(), " of ",
         comm::PartialState().num_processes(),
         "; ranks cannot be forked from a rank. Start them before the first Accelerator or PartialState");
  }
  process::open_closed_streams();
  auto node = options.node;
  int first_rank = node.rank * num_processes;
  std::optional<LoopbackPort> store;
  if (node.num_nodes == 1) {
    store.emplace(node.main_port);
    store->listen();  // ranks that start before rank 0 can connect and wait
    node.main_port = store->number();
    node.main_address = "127.0.0.1";  // the store listens nowhere else
  }
  RankStreams streams(options.line_prefix, first_rank, num_processes);
  RankGroup ranks(options, node.num_nodes * num_processes);
  for (int local_rank = 0; local_rank < num_processes; ++local_rank) {
    ranks.start(first_rank + local_rank, [&, local_rank] {
      streams.redirect(local_rank);
      enter_job(local_rank, num_processes, node, store, options);
      return body(first_rank + local_rank);
    });
  }
  store.reset();
  streams.start();
  return ranks.wait();
}

}  // namespace accelerate::ranks
