#include "accelerate/launch/settings/child_environment.h"

#include <doctest/doctest.h>

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

using namespace accelerate;
using namespace accelerate::launch;

namespace {

using Variables = std::map<std::string, std::string>;

Variables variables_of(const LaunchOptions& options, const Machine& machine, int local_rank) {
  Variables variables;
  for (const auto& [name, value] : child_environment(options, machine, local_rank)) {
    if (value) variables[name] = *value;
  }
  return variables;
}

/// What Python Accelerate gives to each rank (tests/parity/launch).
std::vector<Variables> upstream(const std::string& topic) {
  std::ifstream file(ACCELERATE_SOURCE_DIR "/tests/parity/launch/reference.json");
  return nlohmann::json::parse(file).at(topic).get<std::vector<Variables>>();
}

/// Takes away the differences that are meant, and puts the reference's words for what changes from run to run.
Variables as_upstream(Variables variables) {
  CHECK(variables.erase("ACCELERATE_USE_CPU") == 1);
  CHECK(variables["TORCHELASTIC_USE_AGENT_STORE"] == "False");
  variables["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  variables["MASTER_PORT"] = "PORT";
  variables["TORCHELASTIC_ERROR_FILE"] = "FILE";
  variables.erase("ACCELERATE_STORE_FD");
  return variables;
}

}  // namespace

TEST_CASE("ranks of one machine find what Python Accelerate's launcher would give them") {
  LaunchOptions options{.num_processes = 2, .mixed_precision = "bf16", .debug = true};
  Machine machine{.cores = 2, .main_process_port = 4000, .store_fd = 5};
  auto expected = upstream("one_machine");
  REQUIRE(expected.size() == 2);
  for (int rank : {0, 1}) CHECK(as_upstream(variables_of(options, machine, rank)) == expected[rank]);
}

TEST_CASE("ranks of several machines find what Python Accelerate's launcher would give them") {
  auto expected = upstream("two_machines");
  REQUIRE(expected.size() == 4);
  for (int rank = 0; rank < 4; ++rank) {
    LaunchOptions options{.num_processes = 4,
                          .num_machines = 2,
                          .machine_rank = rank / 2,
                          .main_process_ip = "127.0.0.1",
                          .main_process_port = 4000,
                          .num_cpu_threads_per_process = 3};
    CHECK(as_upstream(variables_of(options, {.main_process_port = 4000}, rank % 2)) == expected[rank]);
  }
}

TEST_CASE("rank 0 alone gets the socket that is bound to the job's port") {
  LaunchOptions options{.num_processes = 3};
  Machine machine{.main_process_port = 4000, .store_fd = 5};
  auto first = variables_of(options, machine, 0);
  CHECK(first["ACCELERATE_STORE_FD"] == "5");
  CHECK(first["MASTER_PORT"] == "4000");
  CHECK(variables_of(options, machine, 1).count("ACCELERATE_STORE_FD") == 0);
}

TEST_CASE("a single process is rank 0 of 1") {
  auto variables = variables_of({}, {.main_process_port = 4000}, 0);
  CHECK(variables["RANK"] == "0");
  CHECK(variables["WORLD_SIZE"] == "1");
  CHECK(variables["LOCAL_WORLD_SIZE"] == "1");
}

TEST_CASE("the cores are shared out, unless the user has decided") {
  auto threads = [](const LaunchOptions& options, const Machine& machine) {
    return variables_of(options, machine, 0)["OMP_NUM_THREADS"];
  };
  CHECK(threads({.num_processes = 2}, {.cores = 8}) == "4");
  CHECK(threads({.num_processes = 3}, {.cores = 8}) == "2");
  CHECK(threads({.num_processes = 9}, {.cores = 8}) == "1");
  CHECK(threads({.num_processes = 16, .num_machines = 4}, {.cores = 8}) == "2");
  CHECK(threads({.num_processes = 2}, {.cores = 8, .omp_num_threads = 7}) == "7");
  CHECK(threads({.num_processes = 2, .num_cpu_threads_per_process = 5}, {.cores = 8, .omp_num_threads = 7}) == "5");
}

TEST_CASE("a GPU machine does not tell its ranks to stay on the CPU") {
  CHECK(variables_of({}, {.use_cpu = false}, 0).count("ACCELERATE_USE_CPU") == 0);
  CHECK(variables_of({}, {.use_cpu = true}, 0)["ACCELERATE_USE_CPU"] == "True");
}

TEST_CASE("changes to an environment replace, add and remove") {
  const char* base[] = {"A=1", "B=2", "AB=3", "C=x=y", nullptr};
  auto merged = merge_environment(base, {{"B", "new"}, {"D", "4"}, {"AB", std::nullopt}});
  CHECK(merged == std::vector<std::string>{"A=1", "C=x=y", "B=new", "D=4"});
}
