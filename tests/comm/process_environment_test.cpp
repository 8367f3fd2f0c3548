#include <doctest/doctest.h>

#include <map>

#include "accelerate/base/error.h"
#include "accelerate/comm/process_environment.h"

using namespace accelerate;
using namespace accelerate::comm;

namespace {

ProcessEnvironment read(const std::map<std::string, std::string>& variables) {
  return read_process_environment([&](const std::string& name) -> std::optional<std::string> {
    auto found = variables.find(name);
    return found == variables.end() ? std::nullopt : std::optional(found->second);
  });
}

struct Place {
  int rank, world_size, local_rank, local_world_size;
  bool operator==(const Place&) const = default;
};

Place place(const ProcessEnvironment& process) {
  return {process.rank, process.world_size, process.local_rank, process.local_world_size};
}

}  // namespace

TEST_CASE("without a launcher a process is alone") {
  auto process = read({});
  CHECK(place(process) == Place{0, 1, 0, 1});
  CHECK_FALSE(process.distributed);
  CHECK(process.main_address == "127.0.0.1");
  CHECK(process.main_port == 29500);
}

TEST_CASE("every launcher's variables tell the rank") {
  CHECK(place(read({{"RANK", "3"},
                    {"WORLD_SIZE", "4"},
                    {"LOCAL_RANK", "1"},
                    {"LOCAL_WORLD_SIZE", "2"},
                    {"MASTER_ADDR", "a"}})) == Place{3, 4, 1, 2});
  CHECK(place(read({{"PMI_RANK", "1"}, {"PMI_SIZE", "2"}, {"MPI_LOCALRANKID", "1"}, {"MPI_LOCALNRANKS", "2"}})) ==
        Place{1, 2, 1, 2});
  CHECK(place(read({{"OMPI_COMM_WORLD_RANK", "1"},
                    {"OMPI_COMM_WORLD_SIZE", "2"},
                    {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                    {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}})) == Place{1, 2, 1, 2});
  CHECK(place(read({{"MV2_COMM_WORLD_RANK", "1"},
                    {"MV2_COMM_WORLD_SIZE", "2"},
                    {"MV2_COMM_WORLD_LOCAL_RANK", "1"},
                    {"MV2_COMM_WORLD_LOCAL_SIZE", "2"}})) == Place{1, 2, 1, 2});
}

TEST_CASE("the first variable of the list wins, and negative values do not count") {
  CHECK(read({{"RANK", "-1"}, {"PMI_RANK", "1"}, {"WORLD_SIZE", "2"}}).rank == 1);
  CHECK(read({{"RANK", "0"}, {"PMI_RANK", "1"}, {"WORLD_SIZE", "2"}}).rank == 0);
}

TEST_CASE("a Slurm step gives rank, node and a port of its own") {
  auto process = read({{"SLURM_PROCID", "5"},
                       {"SLURM_STEP_NUM_TASKS", "8"},
                       {"SLURM_LOCALID", "1"},
                       {"SLURM_STEP_TASKS_PER_NODE", "4(x2)"},
                       {"SLURM_STEP_NODELIST", "gpu[03-04,07]"},
                       {"SLURM_JOB_ID", "123456"}});
  CHECK(place(process) == Place{5, 8, 1, 4});
  CHECK(process.main_address == "gpu03");
  CHECK(process.main_port == 23456);
}

TEST_CASE("a Slurm step with PMI has several machines where Slurm says so") {
  const std::map<std::string, std::string> step{
      {"SLURM_PROCID", "3"}, {"SLURM_STEP_NUM_TASKS", "4"},          {"SLURM_LOCALID", "1"},
      {"SLURM_NODEID", "1"}, {"SLURM_STEP_TASKS_PER_NODE", "2(x2)"}, {"SLURM_STEP_NODELIST", "a,b"}};
  auto with_pmi = step;
  with_pmi.insert({{"PMI_RANK", "3"}, {"PMI_SIZE", "4"}});
  CHECK(place(read(with_pmi)) == Place{3, 4, 1, 2});
  CHECK(read(with_pmi).main_address == "a");

  // mpirun of MPICH inside of a step says itself where its ranks are, and so does a user.
  auto with_mpirun = with_pmi;
  with_mpirun.insert({{"MPI_LOCALRANKID", "3"}, {"MPI_LOCALNRANKS", "4"}});
  CHECK(place(read(with_mpirun)) == Place{3, 4, 3, 4});
  auto by_hand = step;
  by_hand.insert({{"RANK", "0"}, {"WORLD_SIZE", "1"}});
  CHECK(place(read(by_hand)) == Place{0, 1, 0, 1});
}

TEST_CASE("nodes of Slurm's may have different numbers of tasks") {
  auto process = read({{"SLURM_PROCID", "3"},
                       {"SLURM_STEP_NUM_TASKS", "4"},
                       {"SLURM_LOCALID", "0"},
                       {"SLURM_NODEID", "1"},
                       {"SLURM_STEP_TASKS_PER_NODE", "3,1"},
                       {"SLURM_STEP_NODELIST", "a,b"}});
  CHECK(place(process) == Place{3, 4, 0, 1});
}

TEST_CASE("the tasks of one node of Slurm's meet on the loopback interface") {
  auto process = read({{"SLURM_PROCID", "1"},
                       {"SLURM_STEP_NUM_TASKS", "2"},
                       {"SLURM_STEP_TASKS_PER_NODE", "2"},
                       {"SLURM_STEP_NODELIST", "a-name-of-slurm"}});
  CHECK(process.one_machine());
  CHECK(process.main_address == "127.0.0.1");
}

TEST_CASE("a Slurm batch script, which srun did not start, is alone") {
  CHECK_FALSE(read({{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "8"}, {"SLURM_JOB_ID", "1"}}).distributed);
}

TEST_CASE("restarts of a job have run ids of their own") {
  std::map<std::string, std::string> job{{"RANK", "0"}, {"WORLD_SIZE", "1"}, {"TORCHELASTIC_RUN_ID", "job"}};
  job["TORCHELASTIC_RESTART_COUNT"] = "0";
  auto first = read(job).run_id;
  job["TORCHELASTIC_RESTART_COUNT"] = "1";
  CHECK(read(job).run_id != first);
}

TEST_CASE("only rank 0 takes the launcher's socket, and torchrun's agent hosts its store") {
  std::map<std::string, std::string> job{{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"ACCELERATE_STORE_FD", "7"}};
  CHECK(read(job).store_fd == 7);
  job["RANK"] = "1";
  CHECK_FALSE(read(job).store_fd);
  CHECK_FALSE(read(job).agent_store);
  job["TORCHELASTIC_USE_AGENT_STORE"] = "True";
  CHECK(read(job).agent_store);
}

TEST_CASE("variables that contradict each other are named") {
  CHECK_THROWS_WITH_AS(read({{"RANK", "2"}, {"WORLD_SIZE", "2"}}), doctest::Contains("RANK is 2"), Error);
  CHECK_THROWS_WITH_AS(read({{"RANK", "two"}, {"WORLD_SIZE", "2"}}), doctest::Contains("'two'"), Error);
  CHECK_THROWS_WITH_AS(read({{"RANK", "99999999999"}, {"WORLD_SIZE", "2"}}), doctest::Contains("too large"), Error);
  for (const char* port : {"0", "-1", "70000"}) {
    CHECK_THROWS_WITH_AS(read({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"MASTER_PORT", port}}),
                         doctest::Contains("from 1 to 65535"), Error);
  }
  CHECK_THROWS_WITH_AS(read({{"RANK", "0"}, {"WORLD_SIZE", "4"}, {"LOCAL_WORLD_SIZE", "2"}}),
                       doctest::Contains("MASTER_ADDR"), Error);
  CHECK_THROWS_WITH_AS(read({{"RANK", "0"}, {"WORLD_SIZE", "2"}, {"LOCAL_RANK", "2"}, {"LOCAL_WORLD_SIZE", "2"}}),
                       doctest::Contains("LOCAL_RANK"), Error);
}
