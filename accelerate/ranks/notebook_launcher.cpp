#include "accelerate/ranks/launchers.h"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <thread>

#include <ATen/DeviceAccelerator.h>

#include "accelerate/base/cpu.h"
#include "accelerate/base/gpu.h"
#include "accelerate/comm/partial_state.h"
#include "accelerate/process/exit_status.h"
#include "accelerate/process/signals.h"

namespace accelerate::ranks {

namespace {

/// The devices that the ranks run on, and how many ranks fit.
struct Place {
  bool gpus = false;
  int num_ranks = 1;
  std::string unused = {};  // says which devices of this machine libtorch cannot use
};

int visible_gpus() {
  int count = count_gpus();
  auto visible = environment_variable("CUDA_VISIBLE_DEVICES");
  if (!visible) return count;
  int named = visible->empty() ? 0 : static_cast<int>(std::count(visible->begin(), visible->end(), ',')) + 1;
  return std::min(count, named);
}

Place choose_place() {
  Place place{.num_ranks = usable_cores()};
  if (environment_flag("ACCELERATE_USE_CPU", false)) return place;
  int gpus = visible_gpus();
  if (gpus > 0 && at::accelerator::getAccelerator() == at::kCUDA) return {.gpus = true, .num_ranks = gpus};
  if (gpus > 0) place.unused = "the GPUs of this machine are not used: this libtorch was built for the CPU";
  if (environment_variable("TPU_NAME") || std::filesystem::exists("/dev/accel0")) {
    place.unused = "the TPU of this machine is not used: libtorch has no kernels for it";
  }
  return place;
}

/// Prints what the caller did not choose.
void announce(const NotebookLauncherOptions& options, const Place& place, int num_processes) {
  if (options.num_processes && place.unused.empty()) return;
  std::cerr << "notebook_launcher: " << num_processes
            << (num_processes == 1 ? " process on the " : " processes on the ") << (place.gpus ? "GPUs" : "CPU");
  if (!options.num_processes) std::cerr << (place.gpus ? ", one per GPU" : ", one per core");
  if (!place.unused.empty()) std::cerr << "; " << place.unused;
  std::cerr << std::endl;
}

void check(const NotebookLauncherOptions& options) {
  if (comm::PartialState::initialized()) {
    fail(
        "notebook_launcher: this process has an Accelerator or PartialState, so it is a rank itself. Create the "
        "Accelerator only inside the function; end_training() releases one that was created before");
  }
  if (options.num_nodes < 1) fail("notebook_launcher: num_nodes is ", options.num_nodes, "; it must be at least 1");
  if (options.node_rank < 0 || options.node_rank >= options.num_nodes) {
    fail("notebook_launcher: node_rank is ", options.node_rank, " and num_nodes is ", options.num_nodes,
         "; nodes are numbered from 0 to num_nodes - 1");
  }
  if (options.num_nodes > 1 && !(options.num_processes && options.use_port.value_or(0) != 0)) {
    fail("notebook_launcher: on ", options.num_nodes,
         " nodes, num_processes (per node) and use_port must be given, with the same values on all nodes");
  }
  int port = options.use_port.value_or(0);
  if (port < 0 || port > 65535) {
    fail("notebook_launcher: use_port is ", port, "; it can be 1 to 65535, or 0 on one node for a free port");
  }
  if (options.max_restarts < 0) {
    fail("notebook_launcher: max_restarts is ", options.max_restarts, "; it must be at least 0");
  }
}

/// Waits before a restart. Throws if SIGINT or SIGTERM arrives meanwhile.
void wait_for_restart(std::chrono::milliseconds interval, process::SignalRecorder& signals) {
  auto until = std::chrono::steady_clock::now() + interval;
  do {
    if (int number = signals.take())
      fail("interrupted by ", process::signal_name(number), " before the ranks were restarted");
    std::this_thread::sleep_for(std::min(interval, std::chrono::milliseconds(5)));
  } while (std::chrono::steady_clock::now() < until);
}

}  // namespace

std::vector<std::string> launch_function(const std::function<std::string()>& function,
                                         const NotebookLauncherOptions& options,
                                         std::optional<std::string> mixed_precision) {
  check(options);
  auto place = choose_place();
  int num_processes = options.num_processes.value_or(place.num_ranks);
  announce(options, place, num_processes);
  bool alone = num_processes == 1 && options.num_nodes == 1;
  ForkOptions fork{.timeout = options.timeout,
                   .grace = options.grace,
                   .environment = options.environment,
                   .node = {options.node_rank, options.num_nodes, options.master_addr, options.use_port.value_or(0)},
                   .use_cpu = !place.gpus,
                   .line_prefix = alone ? "" : options.log_line_prefix_template,
                   .pass_signals_on = true};
  if (mixed_precision) fork.environment.push_back({"ACCELERATE_MIXED_PRECISION", mixed_precision});
  fork.environment.push_back({"TORCHELASTIC_MAX_RESTARTS", std::to_string(options.max_restarts)});
  process::SignalRecorder signals;  // also between restarts
  for (int restarts = 0;; ++restarts) {
    auto attempt = fork;
    attempt.environment.push_back({"TORCHELASTIC_RESTART_COUNT", std::to_string(restarts)});
    try {
      return fork_ranks(num_processes, [&](int) { return function(); }, attempt);
    } catch (const RankError& error) {
      if (restarts == options.max_restarts) throw;
      std::cerr << "notebook_launcher: " << error.what() << "; restart " << restarts + 1 << " of at most "
                << options.max_restarts << std::endl;
    }
    wait_for_restart(options.monitor_interval, signals);
  }
}

}  // namespace accelerate::ranks
