#include "accelerate/launch/launch_options.h"

#include <algorithm>
#include <array>

#include "accelerate/base/error.h"

namespace accelerate::launch {

namespace {

void check_machines(const LaunchOptions& options) {
  if (options.num_machines < 1) fail("--num_machines is ", options.num_machines, "; it has to be at least 1");
  if (options.machine_rank < 0 || options.machine_rank >= options.num_machines) {
    fail("--machine_rank is ", options.machine_rank, "; with --num_machines ", options.num_machines,
         " it counts from 0 to ", options.num_machines - 1);
  }
  if (options.num_processes % options.num_machines != 0) {
    fail("--num_processes is ", options.num_processes, ", which --num_machines ", options.num_machines,
         " does not divide; it is the number of processes of all machines together");
  }
  if (options.one_machine()) return;
  if (options.main_process_ip.empty()) {
    fail("several machines need --main_process_ip: the address of the machine whose --machine_rank is 0");
  }
  if (options.main_process_port.value_or(0) == 0) {
    fail("several machines need --main_process_port: a port that is free on the machine whose --machine_rank is 0");
  }
}

}  // namespace

void check(const LaunchOptions& options) {
  if (options.num_processes < 1) fail("--num_processes is ", options.num_processes, "; it has to be at least 1");
  check_machines(options);
  int port = options.main_process_port.value_or(0);
  if (port < 0 || port > 65535) fail("--main_process_port is ", port, "; a port is a number from 0 (any) to 65535");
  int threads = options.num_cpu_threads_per_process.value_or(1);
  if (threads < 1) fail("--num_cpu_threads_per_process is ", threads, "; it has to be at least 1");
  constexpr std::array known = {"no", "fp16", "bf16"};
  if (std::find(known.begin(), known.end(), options.mixed_precision) == known.end()) {
    fail("--mixed_precision is '", options.mixed_precision, "'; it can be no, fp16 or bf16");
  }
}

}  // namespace accelerate::launch
