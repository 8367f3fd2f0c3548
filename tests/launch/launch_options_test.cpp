#include "accelerate/launch/settings/launch_options.h"

#include <doctest/doctest.h>

#include "accelerate/base/error.h"

using namespace accelerate;
using accelerate::launch::LaunchOptions;

TEST_CASE("options that make sense pass") {
  CHECK_NOTHROW(check(LaunchOptions{}));
  CHECK_NOTHROW(check(LaunchOptions{.num_processes = 64}));
  CHECK_NOTHROW(check(LaunchOptions{.main_process_port = 0, .mixed_precision = "bf16"}));
  LaunchOptions two_machines{.num_processes = 4,
                             .num_machines = 2,
                             .machine_rank = 1,
                             .main_process_ip = "10.0.0.1",
                             .main_process_port = 29500};
  CHECK_NOTHROW(check(two_machines));
  CHECK(two_machines.local_processes() == 2);
  LaunchOptions by_mpirun{
      .num_processes = 2, .num_machines = 2, .main_process_ip = "10.0.0.1", .mpirun_hostfile = "hosts"};
  CHECK_NOTHROW(check(by_mpirun));
}

TEST_CASE("options that do not are refused with their name and value") {
  struct Case {
    LaunchOptions options;
    const char* message;
  };
  for (const auto& [options, message] : std::vector<Case>{
           {{.num_processes = 0}, "--num_processes is 0"},
           {{.num_processes = -3}, "--num_processes is -3"},
           {{.num_machines = 0}, "--num_machines is 0"},
           {{.machine_rank = 1}, "--machine_rank is 1"},
           {{.machine_rank = -1}, "--machine_rank is -1"},
           {{.num_processes = 3, .num_machines = 2}, "--num_processes is 3"},
           {{.num_processes = 2, .num_machines = 2}, "--main_process_ip"},
           {{.num_processes = 2, .num_machines = 2, .main_process_ip = "10.0.0.1"}, "--main_process_port"},
           {{.num_processes = 2, .num_machines = 2, .mpirun_hostfile = "hosts"}, "--main_process_ip"},
           {{.main_process_port = 65536}, "--main_process_port is 65536"},
           {{.main_process_port = -1}, "--main_process_port is -1"},
           {{.multi_gpu = true}, "--num_processes is 1"},
           {{.max_restarts = -1}, "--max_restarts is -1"},
           {{.gradient_accumulation_steps = 0}, "--gradient_accumulation_steps is 0"},
           {{.gpu_ids = "0;1"}, "--gpu_ids is '0;1'"},
           {{.wait_for_debugger = 1}, "--wait_for_debugger is 1"},
           {{.module = true, .no_python = true}, "--module and --no_python"},
           {{.dynamo_backend = "inductor", .program = "./train"}, "torch.compile is for Python"},
           {{.sharding_variables = {{"FSDP_VERSION", "1"}}, .program = "./train"}, "for Python programs"},
           {{.num_cpu_threads_per_process = 0}, "--num_cpu_threads_per_process is 0"},
       }) {
    CHECK_THROWS_WITH_AS(check(options), doctest::Contains(message), Error);
  }
}
